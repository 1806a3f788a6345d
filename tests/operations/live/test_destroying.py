"""The end of an acceptance run: the destroy is tried again while Google needs it, and what is left is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from operations.doctor.google import ENDPOINT, GoogleClient, login
from operations.live import destroying, leftovers
from operations.options import Cloud
from operations.target import Target
from tests.operations.doctor.emulated import PROJECT, emulating
from tests.operations.live.support import ROOT, TARGET, calls, go, quiet


def test_a_destroy_that_fails_is_tried_again_and_then_named_with_its_command(commands: Path) -> None:
    (commands / "down.sh").write_text(f"echo down >> {commands}/calls; exit 1")
    seen = go(commands)
    assert calls(commands)[-2:] == ["down", "down"]
    step = seen.steps[-1]
    assert (step.name, step.verdict) == ("destroy", "failed")
    assert "STILL EXISTS" in step.text
    assert "down.sh" in step.text


IN_USE = "The network resource 'x' is already being used by 'projects/p/zones/z/networkEndpointGroups/k8s1-1'"


def test_a_destroy_waits_while_google_says_that_something_uses_the_network(
    commands: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(destroying.destroy, "__kwdefaults__", {"pause": waited.append})
    (commands / "down.sh").write_text(
        f'echo down >> {commands}/calls; [ $(grep -c down {commands}/calls) -ge 3 ] || {{ echo "{IN_USE}"; exit 255; }}'
    )
    assert go(commands).steps[-1].verdict == "passed"
    assert calls(commands)[-3:] == ["down"] * 3
    assert waited == [180, 240]


def test_a_network_that_stays_in_use_is_named_after_four_attempts(tmp_path: Path, commands: Path) -> None:
    (commands / "down.sh").write_text(f'echo down >> {commands}/calls; echo "{IN_USE}"; exit 255')
    waited: list[float] = []
    outcome = destroying.destroy(TARGET, tmp_path / "log", quiet, pause=waited.append)
    assert (outcome.status, outcome.attempts, waited) == (255, 4, [180, 240, 300])
    assert outcome.in_use == [IN_USE]


def test_an_earlier_attempt_in_the_same_log_does_not_count(tmp_path: Path, commands: Path) -> None:
    (tmp_path / "log").write_text(f"{IN_USE}\n")
    (commands / "down.sh").write_text("echo forbidden; exit 255")
    assert destroying.destroy(TARGET, tmp_path / "log", quiet, pause=lambda _: None).attempts == 1


def test_groups_that_gke_has_not_deleted_after_a_wait_are_deleted(
    tmp_path: Path, commands: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (commands / "down.sh").write_text(f'echo "{IN_USE}"; exit 255')
    done: list[object] = []

    def delete(settings: object, in_use: Sequence[str], say: object) -> list[str]:
        done.append(in_use)
        return []

    monkeypatch.setattr(leftovers, "delete_groups", delete)
    destroying.destroy(TARGET, tmp_path / "log", quiet, pause=done.append)
    assert done == [180, [IN_USE], 240, [IN_USE], 300]
    done.clear()
    destroying.destroy(Target("eu4a", Cloud.LAPTOP, ROOT), tmp_path / "log", quiet, pause=lambda _: None)
    assert done == []


def test_only_gkes_groups_in_a_network_without_a_cluster_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = TARGET.settings.model_copy(update={"project": PROJECT})
    name, said = settings.cluster.name, list[str]()
    network = f"The network resource 'projects/{PROJECT}/global/networks/{name}' is already being used by 'x'"
    with emulating(tmp_path) as google:
        monkeypatch.setenv(ENDPOINT, google.url)
        google.conditions(inUseAfterCluster=3600)
        google.make_cluster(settings)
        assert leftovers.delete_groups(settings, [network], said.append) == []
        assert said.pop().startswith(f"cluster {name} is in network {name}")
        client = GoogleClient(PROJECT, login())
        parent = f"projects/{PROJECT}/locations/{settings.cluster.location}"
        client.ask("container.projects.locations.clusters.delete", name=f"{parent}/clusters/{name}")
        for other in (f"global/networks/another-{name}", f"regions/r/addresses/{name}"):
            line = network.replace(f"global/networks/{name}", other)
            assert leftovers.delete_groups(settings, [line], said.append) == []
        google.fails("compute.networkEndpointGroups.delete", 403, times=1)
        assert leftovers.delete_groups(settings, [network], said.append) == []
        assert "cannot be deleted" in said.pop()
        (group,) = leftovers.delete_groups(settings, [network, network], said.append)
        assert group in said.pop()
        assert leftovers.delete_groups(settings, [network], said.append) == []
        assert said == []


def test_what_is_left_behind_fails_the_destroy(commands: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "look", lambda settings: "disks pvc-llmd-eu4a")
    assert go(commands).steps[-1].verdict == "failed"


def test_what_a_cluster_left_at_google_is_looked_for_by_the_client_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = TARGET.settings.model_copy(update={"project": PROJECT})
    with emulating(tmp_path) as google:
        monkeypatch.setenv(ENDPOINT, google.url)
        google.make_network("default")
        assert leftovers.look(settings) == ""
        rule = {"network": f"projects/{PROJECT}/global/networks/default", "allowed": [{"IPProtocol": "tcp"}]}
        for name in ("somebodys", f"gke-{settings.cluster.name}-health"):
            google.make("global/firewalls", {"name": name, **rule})
        assert leftovers.look(settings) == f"firewalls gke-{settings.cluster.name}-health"
        google.fails("compute.disks.aggregatedList", 403)
        assert leftovers.look(settings) is None
