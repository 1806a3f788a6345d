"""What a laptop cloud builds and starts for models whose replicas follow their load, and for which stacks."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from llmd_common.problems import Stale
from llmd_gke.repository import CLONE
from llmd_gke.settings.validation import CLOUD_VARIABLE
from localcloud import binaries
from localcloud.cluster import autoscaling, lifecycle
from localcloud.common import cluster_status
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir
from localcloud.gke_gateway.crds import upstream
from localcloud.go_builds import charts
from localcloud.monitoring import options

SCALED = "config:\n  llmd-gke:models:\n    - {name: a, replicas: 1}\n    - {name: b, minReplicas: 1, maxReplicas: 3}\n"


@pytest.fixture
def workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workdir:
    monkeypatch.delenv(options.VARIABLE, raising=False)
    (tmp_path / "Pulumi.scaled.yaml").write_text(SCALED)
    (tmp_path / "Pulumi.managed.yaml").write_text(f"{SCALED}  llmd-gke:cluster: {{minVersion: '1.37'}}\n")
    chosen = SCALED.replace("maxReplicas: 3", "maxReplicas: 3, scaling: {source: keda}")
    (tmp_path / "Pulumi.chosen.yaml").write_text(f"{chosen}  llmd-gke:cluster: {{minVersion: '1.37'}}\n")
    (tmp_path / "Pulumi.fixed.yaml").write_text("config:\n  llmd-gke:models: [{name: a, replicas: 1}]\n")
    (tmp_path / "Pulumi.odd.yaml").write_text("config:\n  llmd-gke:models: [7]\n")
    (tmp_path / "Pulumi.broken.yaml").write_text("config: 7\n")
    monkeypatch.setattr(binaries, "path", Path)
    return Workdir(tmp_path, tmp_path / "home", "laptop")


@pytest.mark.parametrize(
    ("stack", "expected"),
    [("scaled", True), ("chosen", True), ("managed", False), ("fixed", False), ("odd", False), (None, False)],
)
def test_keda_and_prometheus_are_built_only_for_stacks_that_keda_scales(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch, stack: str | None, expected: bool
) -> None:
    built, by = list[str](), list[Path | None]()

    def prepare(folder: Path, *, front_door: bool = False, kubectl: Path | None = None) -> Path:
        assert not front_door
        by.append(kubectl)
        return folder

    monkeypatch.setattr(binaries, "ensure", lambda names, _: built.extend(names))  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
    monkeypatch.setattr(charts, "prepare", prepare)
    monkeypatch.setattr(upstream, "prepare", lambda _: None)  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
    lifecycle.ensure_binaries(workdir, Console(quiet=True), stack)
    assert by == [Path("kubectl") if expected else None]
    assert set(autoscaling.PROGRAMS) <= set(built) if expected else not set(autoscaling.PROGRAMS) & set(built)


@pytest.mark.parametrize("running", [True, False])
def test_a_cluster_that_collects_nothing_is_refused_with_the_commands_that_start_another(
    workdir: Workdir, running: bool
) -> None:
    status = Layout(workdir.home).status
    status.parent.mkdir(parents=True)
    names = ["etcd", *([autoscaling.COLLECTORS] if running else [])]
    processes = [cluster_status.ProcessStatus(name) for name in names]
    cluster_status.write(status, cluster_status.Status("ready", "", processes))
    if running:
        autoscaling.check_collected(workdir, "scaled")
        return
    with pytest.raises(Stale) as refused:
        autoscaling.check_collected(workdir, "scaled")
    assert "llmd-gke:models of stack scaled: KEDA needs the load" in str(refused.value)
    assert f"Fix: `{workdir.make('down')}`, then `{workdir.make('up', 'scaled')}`" in str(refused.value)


def autoscaled() -> tuple[dict[str, Any], dict[str, Any]]:
    """The stack `local` with bounds instead of a number, and its model in it."""
    content = yaml.safe_load((CLONE / "Pulumi.local.yaml").read_text())
    (model,) = content["config"]["llmd-gke:models"]
    del model["replicas"]
    model |= {"minReplicas": 1, "maxReplicas": 2}
    return content, model


def test_a_model_outside_of_its_hours_is_not_asked_after_an_update(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CLOUD_VARIABLE, "laptop")
    content, model = autoscaled()
    model |= {"schedule": {"timeZone": "UTC", "hours": ["Mon-Fri 08:00-18:00"]}}
    (workdir.root / "Pulumi.hours.yaml").write_text(yaml.safe_dump(content))
    wednesday = datetime(2026, 11, 25, 12, tzinfo=UTC)
    assert autoscaling.without_servers(workdir, "hours", wednesday) == {}
    at_night = autoscaling.without_servers(workdir, "hours", wednesday.replace(hour=20))
    assert at_night == {"qwen": "has no server outside of its hours"}
    model["stopped"] = True
    (workdir.root / "Pulumi.hours.yaml").write_text(yaml.safe_dump(content))
    assert autoscaling.without_servers(workdir, "hours", wednesday.replace(hour=20)) == {}, "it is stopped anyway"


def test_a_model_that_may_be_idle_is_not_asked_after_an_update(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CLOUD_VARIABLE, "laptop")
    content, model = autoscaled()
    model |= {"scaling": {"idleAfterSeconds": 3600}}
    (workdir.root / "Pulumi.idle.yaml").write_text(yaml.safe_dump(content))
    reasons = autoscaling.without_servers(workdir, "idle", datetime.now(UTC))
    assert reasons == {"qwen": "has no server while it is idle"}
