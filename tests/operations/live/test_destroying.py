"""The end of an acceptance run: the destroy is tried again while Google needs it, and what is left is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from operations.doctor.google import ENDPOINT
from operations.live import destroying, leftovers
from tests.operations.doctor.emulated import PROJECT, emulating
from tests.operations.live.support import TARGET, calls, go, quiet


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


def test_another_error_is_not_waited_for(tmp_path: Path, commands: Path) -> None:
    (commands / "down.sh").write_text("echo forbidden; exit 255")
    waited: list[float] = []
    outcome = destroying.destroy(TARGET, tmp_path / "log", quiet, pause=waited.append)
    assert (outcome.status, outcome.attempts, waited) == (255, 1, [])


def test_an_earlier_attempt_in_the_same_log_does_not_count(tmp_path: Path, commands: Path) -> None:
    (tmp_path / "log").write_text(f"{IN_USE}\n")
    (commands / "down.sh").write_text("echo forbidden; exit 255")
    assert destroying.destroy(TARGET, tmp_path / "log", quiet, pause=lambda _: None).attempts == 1


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


def test_leftovers_are_those_that_name_the_cluster() -> None:
    settings = TARGET.settings
    entries = [{"name": "gkegw1-x", "network": "llmd-eu4a"}, {"name": "default-allow-ssh", "network": "default"}]
    assert leftovers.belonging(entries, settings, "firewall-rules") == ["firewall-rules gkegw1-x"]
