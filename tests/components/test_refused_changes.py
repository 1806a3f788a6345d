"""Changes that are refused in the preview. ``published_provider/stack_changes.py`` shows that the engine asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from components.model_updates import replaced_pods
from components.refused_changes import gateway_changed, same_project, secondary_ranges_kept
from llmd_gke.manifests import routing, serving
from llmd_gke.settings import StackSettings, parse
from llmd_gke.settings.load import read_config
from llmd_gke.settings.sections.scheduler import SchedulerSettings
from tests.components import kinds
from tests.components.conftest import ROOT
from tests.components.kinds import metadata, of, spec
from tests.components.variants import changes, variant

Hook = Callable[[pulumi.ResourceHookArgs], None]
MOVED = gateway_changed([])
Values = dict[str, Any]
PLACE = {"network": "llmd", "region": "us-east5", "proxies": "10.9.0.0/23"}


def ranges(pods: str = "10.4.0.0/14", services: str = "10.8.0.0/20", **more: str) -> Values:
    named = {"pods": pods, "services": services, **more}
    return {"secondaryIpRanges": [{"rangeName": name, "ipCidrRange": cidr} for name, cidr in named.items()]}


def call(hook: Hook, before: Values | None, now: Values) -> None:
    """``before`` are inputs and outputs of the last update."""
    hook(pulumi.ResourceHookArgs("urn", "", "it", "type", old_inputs=before, new_inputs=now, old_outputs=before))


@pytest.mark.parametrize(
    ("hook", "before", "now", "text"),
    [
        (same_project, {"project": "a"}, {"project": "b"}, 'gcp:project = "b": this stack is in project a'),
        (secondary_ranges_kept, ranges(), ranges(services="10.8.16.0/20"), "network.services = .* has 10.8.0.0/20, "),
        (secondary_ranges_kept, ranges(), ranges(pods="10.4.0.0/13"), "network.pods = .* its pods and services use it"),
        (MOVED, PLACE, {**PLACE, "proxies": "10.9.0.0/22"}, "network.proxies = .* proxies of its Gateway"),
    ],
)  # fmt: skip
def test_a_change_that_ends_badly_is_refused_with_the_way_out(
    hook: Hook, before: Values, now: Values, text: str
) -> None:
    with pytest.raises(pulumi.RunError, match=f"(?s){text}.*Fix: .*another stack") as refusal:
        call(hook, before, now)
    assert "destroy this one first" in str(refusal.value)


@pytest.mark.parametrize(
    ("hook", "before", "now"),
    [
        (same_project, {"project": "a"}, {"project": "a"}),
        (same_project, None, {"project": "a"}),
        (secondary_ranges_kept, ranges(), {**ranges(), "description": "new"}),
        (secondary_ranges_kept, ranges(), ranges(more="10.40.0.0/20")),
        (secondary_ranges_kept, {}, ranges()),
        (MOVED, PLACE, {**PLACE, "network": "other", "proxies": "10.9.2.0/23"}),
        (MOVED, PLACE, {**PLACE, "region": "us-east1", "proxies": "10.9.2.0/23"}),
        (MOVED, PLACE, {**PLACE, "proxies": None}),
        (MOVED, {**PLACE, "proxies": None}, PLACE),
        (MOVED, {"network": "llmd", "subnet": "llmd-nodes"}, PLACE),
        (MOVED, None, PLACE),
    ],
)
def test_a_change_beside_it_passes(hook: Hook, before: Values | None, now: Values) -> None:
    call(hook, before, now)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"uri": "hf://b/c"}, True),
        ({"warm_up": False}, True),
        ({"replicas": 2, "scheduler": SchedulerSettings(profile="load")}, False),
    ],
)
@pytest.mark.parametrize(
    ("level", "pool", "text"),
    [
        ("info", None, "waits until all new ones are ready, at most 50m"),
        ("warn", "v6e", "set `stopped: true` for qwen"),
    ],
)
def test_new_pods_are_said_with_the_wait_and_without_a_spare_host_with_the_order_that_works(
    settings: StackSettings,
    changed: Values,
    says: bool,
    *,
    level: str,
    pool: str | None,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, level, said.append)
    model = settings.models[0]
    hosts = settings.pool(model.pool)
    for make in (serving.runtime_config, serving.service):
        before, now = make(model, hosts), make(model.model_copy(update=changed), hosts)
        call(replaced_pods("qwen", "50m", no_spare_host_in=pool), dict(before), dict(now))
    assert bool(said) == says
    assert all(text in one for one in said)


@pytest.mark.parametrize("name", ["mesh", "tokens"])
def test_who_leaves_istios_gateway_is_told_how_the_stacks_own_routes_lose_their_timeouts(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = {**read_config(ROOT, "eu4a"), **changes(name)}
    settings = parse({key: value for key, value in config.items() if value is not None}, "eu4a").settings
    routes = [node for node in of(kinds.ROUTE)(variant(name)) if "backendRefs" in str(spec(node))]
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", said.append)
    hook = gateway_changed(routing.at_the_edge(settings))
    istios = {**PLACE, "gateway": "istio"}
    for before, now, warnings in ((PLACE, istios, 0), (istios, istios, 0), (istios, PLACE, 1)):
        call(hook, before, now)
        assert len(said) == warnings
    named = said[0].partition("for route in ")[2].partition(";")[0].split()
    assert sorted(named) == sorted(f"{metadata(node, 'namespace')}/{metadata(node, 'name')}" for node in routes)
