"""The order of an acceptance run, what ends it, and that the destroy always comes."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import psutil
import pytest

from llmd_gke.redaction import HIDDEN
from llmd_gke.settings import Checked
from operations.cli import main
from operations.exits import Refused
from operations.live import command, engine, open_claims, preconditions, report
from operations.live import run as live_run
from operations.live.evidence import Evidence, Step
from operations.options import Cloud
from operations.target import Target
from tests.operations.live.conftest import Project, running
from tests.operations.live.support import ROOT, TARGET, calls, go, quiet, verdicts
from tests.operations.support import program


def test_a_run_that_works_goes_through_every_step_and_destroys(commands: Path) -> None:
    seen = go(commands)
    assert calls(commands) == ["up", "unchanged", "down"]
    assert list(verdicts(seen)) == ["up", "second up", "status", "smoke", "bench", "destroy"]
    assert set(verdicts(seen).values()) == {"passed"}


def test_what_the_engine_created_is_read_from_its_events_which_are_not_kept(commands: Path) -> None:
    event = {"timestamp": 5, "resOutputsEvent": {"metadata": {"op": "create", "urn": "urn:pulumi:a::b::c::edge"}}}
    (commands / "up.sh").write_text(f"echo '{json.dumps(event)}' > $1; echo $1 > {commands}/events; echo done")
    assert go(commands).created == {"edge": 0}
    assert not Path((commands / "events").read_text().strip()).exists()


def test_after_a_failed_up_nothing_is_asked_and_the_destroy_comes(commands: Path) -> None:
    (commands / "up.sh").write_text(f"echo up >> {commands}/calls; exit 255")
    assert verdicts(go(commands)) == {"up": "failed", "destroy": "passed"}
    assert calls(commands) == ["up", "down"]


def test_a_step_that_breaks_does_not_keep_the_destroy_from_coming(
    commands: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: object) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(live_run.Run, "_smoke", broken)
    result = verdicts(go(commands))
    assert (result["smoke"], result["bench"], result["destroy"]) == ("failed", "passed", "passed")


def test_an_interrupt_ends_the_steps_and_the_destroy_comes(commands: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: object) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(live_run.Run, "_status", interrupted)
    result = verdicts(go(commands))
    assert result["interrupted"] == "failed"
    assert "bench" not in result
    assert calls(commands)[-1] == "down"


def test_the_command_asks_before_it_destroys(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Path(os.devnull).open())  # noqa: SIM115
    assert main(["destroy", "--stack", "eu4a", "--cloud", "google"]) == 4
    assert "--yes" in capsys.readouterr().err


def test_the_command_refuses_a_protected_stack_and_names_the_update_that_unprotects_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = {"urn": "urn:x::cluster-control-plane", "outputs": {"deletionProtection": True}}
    state = json.dumps({"deployment": {"resources": [cluster]}})
    engine_ = f"#!/bin/sh\ncase \"$*\" in *'stack export'*) echo '{state}' ;; *) touch {tmp_path}/called ;; esac\n"
    program(tmp_path / "pulumi", engine_, monkeypatch)
    assert main(["destroy", "--stack", "prod", "--cloud", "google", "--yes"]) == 4
    assert not (tmp_path / "called").exists()
    refusal = capsys.readouterr().err
    assert "cluster-control-plane" in refusal
    assert "`pulumi up --stack prod --policy-pack policies --policy-pack-config policies/unprotect.json`" in refusal


def test_ctrl_c_tells_the_engine_to_stop_in_order_and_leaves_no_process(tmp_path: Path) -> None:
    """A real Ctrl-C to a real process; the engine is a script that notes how it was told to stop."""
    (tmp_path / "engine.sh").write_text(
        f"trap 'echo in order > {tmp_path}/stopped; exit 1' INT\necho started\nwhile :; do sleep 0.05; done\n"
    )
    code = textwrap.dedent(f"""
        import sys
        from pathlib import Path
        from operations.live import engine
        from operations.options import Cloud
        from operations.target import Target
        say = lambda line: print(line, flush=True)
        target = Target("eu4a", Cloud.GOOGLE, Path("."))
        engine.run(["bash", "{tmp_path}/engine.sh"], target, Path("{tmp_path}/log"), 60, say)
    """)
    with running(code) as ours:
        children = psutil.Process(ours.pid).children(recursive=True)
        os.kill(ours.pid, signal.SIGINT)
        assert ours.wait(30) != 0
        assert (tmp_path / "stopped").read_text() == "in order\n"
        assert psutil.wait_procs(children, 10)[1] == []


def test_an_engine_that_takes_too_long_is_stopped_and_leaves_its_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    status = engine.run(["tail", "-f", os.devnull], TARGET, log, 0, quiet)
    assert engine.was_killed(status), "it may have left its lock"
    assert log.read_text() == ""


@pytest.mark.parametrize("key", ["protect", "deletion_protection"])
def test_a_protected_stack_is_refused_before_anything_is_made(key: str) -> None:
    settings = Target("prod", Cloud.GOOGLE, ROOT).settings

    def stack(**protection: bool) -> Target:
        target = Target("prod", Cloud.GOOGLE, ROOT)
        cluster = settings.cluster.model_copy(update={"protect": False, "deletion_protection": False, **protection})
        target.__dict__["checked"] = Checked(settings.model_copy(update={"cluster": cluster}), ())
        return target

    preconditions.check_destroyable(stack())
    with pytest.raises(Refused, match="protect: false and deletionProtection: false"):
        preconditions.check_destroyable(stack(**{key: True}))


def test_the_price_is_shown_and_nobody_to_ask_means_no(monkeypatch: pytest.MonkeyPatch) -> None:
    assert command.cost(TARGET, date(2026, 9, 1)) == (
        "12 TPU chips: 35.74 USD per hour, list price of 2026-08, so about 54 USD for 1.5 h; plus system nodes, "
        "disks and traffic."
    )
    assert "The price table is of 2026-08, 83 days old" in command.cost(TARGET, date(2026, 11, 22))
    monkeypatch.setattr(sys, "stdin", Path(os.devnull).open())  # noqa: SIM115
    with pytest.raises(Refused, match="--yes"):
        command.consent(TARGET, yes=False)
    command.consent(TARGET, yes=True)


def test_doctor_is_asked_about_google_cloud_whatever_the_environment_names(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOUD", "rehearsal")
    assert preconditions.preflight(project.target("eu4a", Cloud.GOOGLE)).verdict == "passed"
    command, path = project.calls[0]
    assert command[0] == "doctor"
    assert command[command.index("--cloud") + 1] == "google"
    assert path == str(ROOT)  # the project may lie in another folder than the package


def test_what_doctor_found_is_in_the_report_with_its_fix(project: Project) -> None:
    findings = [
        {"check": "billing", "verdict": "ok", "said": "is on", "fix": ""},
        {"check": "chip quota", "verdict": "failed", "said": "0 chips", "fix": "ask for 16"},
    ]
    project.answers("doctor", {"findings": findings}, status=1, stderr="1 of 2 findings would stop it")
    step = preconditions.preflight(project.target("eu4a", Cloud.GOOGLE))
    assert (step.verdict, step.text) == ("failed", "doctor: chip quota: 0 chips (fix: ask for 16)")


def test_the_commands_of_google_cloud_are_pulumis_own() -> None:
    assert " ".join(engine.up(TARGET)) == "pulumi up --yes --non-interactive --stack eu4a --policy-pack policies"
    assert engine.up(TARGET, Path("/e"))[-2:] == ["--event-log", "/e"]
    assert " ".join(engine.down(TARGET)) == "pulumi destroy --yes --non-interactive --stack eu4a"
    rehearsal = replace(TARGET, cloud=Cloud.REHEARSAL)
    assert engine.up(rehearsal, Path("/e")) == ["make", "up", "STACK=eu4a", "CLOUD=rehearsal"]
    assert engine.down(rehearsal) == ["make", "down", "STACK=eu4a", "CLOUD=rehearsal"]


def test_without_an_engine_the_call_fails_before_anything_is_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["live", "--stack", "eu4a", "--cloud", "google", "--yes"]) == 3
    assert "pulumi.com/docs/install" in capsys.readouterr().err


def test_a_run_on_another_cloud_answers_no_open_point() -> None:
    seen = Evidence("local", "rehearsal", TARGET.settings, steps=[Step("up", "passed", "")])
    assert {result for _, result, _ in open_claims.answers(seen)} == {"open"}


def test_points_are_answered_by_what_was_seen_and_not_by_what_was_not() -> None:
    seen = Evidence("eu4a", "google", TARGET.settings, steps=[Step("up", "passed", "")])
    seen.smoke = {"qwen: completion": "passed"}
    seen.created = {"edge-gateway": 95}
    seen.left = "disks x"
    result = {point.number: (answer, text) for point, answer, text in open_claims.answers(seen)}
    assert result[10][0] == "yes"
    assert result[4] == ("yes", "edge-gateway was created in 95 s")
    assert result[24] == open_claims.NOT_SEEN
    assert result[12] == ("no", "disks x")
    assert result[3][0] == "open"


def test_the_report_holds_steps_and_points_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf-short-but-secret")
    token = "hf_" + "a" * 30
    seen = Evidence(
        "eu4a", "google", TARGET.settings, steps=[Step("up", "failed", f"{token} | hf-short-but-secret", 130)]
    )
    text = report.without_secrets(report.as_markdown(seen, "2026-11-21", "12 chips."))
    assert f"| up | failed | 2.2 min | {HIDDEN} \\| {HIDDEN} |" in text
    assert "hf-short" not in text
    assert "## Open points" in text


def test_a_value_is_taken_out_for_its_variables_name_and_ordinary_ones_stay() -> None:
    variables = {"tlsKey": "plain-but-secret", "EDITOR": "plain-but-known", "SSH_AUTH_SOCK": "/run/user/agent"}
    text = "plain-but-secret plain-but-known /run/user/agent firstToken: 0.25"
    assert report.without_secrets(text, variables) == f"{HIDDEN} plain-but-known /run/user/agent firstToken: 0.25"
