"""What all commands share: the entry, exit statuses, reading a stack's outputs, the progress line, Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from operations import cli, outputs
from operations.exits import MEANINGS, BadInput, Exit, NotUp, Problem, SetUpFailed, Unreachable
from operations.options import Cloud
from operations.progress import working
from operations.target import Target
from tests.fakes.script import SHEBANG
from tests.operations.conftest import Clone
from tests.operations.support import ROOT, run


def test_every_command_is_listed_and_has_help_of_its_own() -> None:
    listed = run("--help")
    assert listed.returncode == 0
    for name, entry in cli.COMMANDS.items():
        assert name in listed.stdout
        assert entry.help.split(".")[0][:30] in listed.stdout
        called = run(name, "--help")
        assert called.returncode == 0, called.stderr
        for option in ("--stack", "--output"):
            assert option in called.stdout, name


def test_every_exit_status_is_explained_in_the_help_and_in_the_page() -> None:
    shown = " ".join(run("--help", environment={"COLUMNS": "4000"}).stdout.split())
    page = (ROOT / "docs" / "operations.md").read_text()
    assert set(MEANINGS) == set(Exit)
    for status, meaning in MEANINGS.items():
        assert f"{status.value} {meaning}" in shown
        assert f"| {status.value} | {meaning} |" in page


def test_every_kind_of_problem_has_a_status_of_its_own() -> None:
    kinds = [kind for kind in vars(sys.modules["operations.exits"]).values() if isinstance(kind, type)]
    statuses = [int(kind.status) for kind in kinds if issubclass(kind, Problem) and kind is not Problem]
    assert len(statuses) == len(set(statuses)) == len(Exit) - 2  # all but done and stopped


def test_an_unknown_command_is_a_wrong_call() -> None:
    done = run("no-such-command")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no-such-command" in done.stderr


def without_age(errors: str) -> list[str]:
    """The lines without the note about an old price table, which comes with time and not with the code."""
    return [line for line in errors.splitlines() if not line.startswith("The price table is of ")]


def test_calling_one_command_imports_no_other() -> None:
    code = (
        "import sys; from operations import cli\n"
        "cli.main(['cost', '--stack', 'eu4a', '--output', 'json'])\n"
        "print(*[one.module for one in cli.COMMANDS.values() if one.module in sys.modules], file=sys.stderr)\n"
        "print(*[name for name in ('pulumi', 'httpx', 'google') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert without_age(done.stderr) == [cli.COMMANDS["cost"].module, ""]


def test_the_project_of_the_stack_file_decides_where_the_stack_lives(clone: Clone) -> None:
    file = clone.root / "Pulumi.one.yaml"
    assert Target.choose("one", root=clone.root).cloud is Cloud.GOOGLE
    file.write_text(file.read_text().replace("my-project", "rehearsal"))
    assert Target.choose("one", root=clone.root).cloud is Cloud.REHEARSAL
    assert Target.choose("one", Cloud.LAPTOP, root=clone.root).cloud is Cloud.LAPTOP


def test_clouds_of_this_machine_keep_their_state_apart(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLMD_GKE_HOME", raising=False)
    homes = {cloud: Target("one", cloud, clone.root).workdir.home for cloud in (Cloud.REHEARSAL, Cloud.LAPTOP)}
    assert homes == {Cloud.REHEARSAL: clone.root / ".rehearsal", Cloud.LAPTOP: clone.root / ".laptop"}


def test_a_command_in_the_shell_of_one_cloud_finds_the_home_of_the_other(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLMD_GKE_CLOUD", "rehearsal")
    monkeypatch.setenv("LLMD_GKE_HOME", str(clone.root / ".rehearsal"))
    target = Target("one", Cloud.LAPTOP, clone.root)
    before = target.workdir.home
    assert target.settings  # reading them says by the environment which cloud is meant
    assert target.workdir.home == before == clone.root / ".laptop"


def test_a_stack_without_a_file_is_wrong_input_and_the_others_are_named(clone: Clone) -> None:
    with pytest.raises(BadInput, match=r"(?s)Pulumi\.two\.yaml does not exist.*one"):
        Target.choose("two", root=clone.root)


PULUMI = """\
{shebang}import json, os, sys
if "--show-secrets" in sys.argv:
    print("the-kubeconfig")
elif sys.argv[sys.argv.index("-s") + 1] != "one":
    print("error: a sentence", file=sys.stderr)
    sys.exit(6)
elif os.environ.get("FAILS"):
    print("error: not found, no stack named, pulumi login", file=sys.stderr)
    sys.exit(int(os.environ["FAILS"]))
else:
    print(json.dumps({outputs}))
"""
EXPORTED = {
    "gatewayIp": "203.0.113.7",
    "models": {"qwen": {"url": "http://203.0.113.7/models/qwen", "servedModelName": "qwen"}},
    "cluster": {"name": "llmd-one", "location": "us-east5", "project": "my-project"},
    "kubeconfig": "[secret]",
}


@pytest.fixture
def pulumi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `pulumi` on PATH that answers for the stack `one` as the engine does: secrets only where they are needed."""
    program = tmp_path / "bin" / "pulumi"
    program.parent.mkdir()
    program.write_text(PULUMI.format(shebang=SHEBANG, outputs=repr(EXPORTED)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return program


def test_outputs_of_a_stack_on_google_come_from_the_pulumi_on_path(clone: Clone, pulumi: Path) -> None:
    values = outputs.read(Target("one", Cloud.GOOGLE, clone.root))
    assert values.gateway_ip == "203.0.113.7"
    assert values.models == (outputs.Endpoint("qwen", "http://203.0.113.7/models/qwen", "qwen"),)
    assert values.cluster["location"] == "us-east5"
    assert values.values["kubeconfig"] == "[secret]"
    assert outputs.kubeconfig(Target("one", Cloud.GOOGLE, clone.root)).strip() == "the-kubeconfig"


def behind_a_door(pulumi: Path) -> None:
    """The stack has a front door."""
    model = {"url": "http://203.0.113.7", "servedModelName": "qwen", "namespace": "models"}
    exported = {**EXPORTED, "baseUrl": "http://203.0.113.7/v1", "models": {"qwen": model}}
    pulumi.write_text(PULUMI.format(shebang=SHEBANG, outputs=repr(exported)))


def test_a_model_behind_the_front_door_is_asked_with_the_key_of_the_environment(
    clone: Clone, pulumi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind_a_door(pulumi)
    monkeypatch.setenv("LLM_API_KEY", "key-of-somebody")
    (model,) = outputs.read(Target("one", Cloud.GOOGLE, clone.root)).models
    assert model == outputs.Endpoint("qwen", "http://203.0.113.7", "qwen", True, "models", "key-of-somebody")
    assert "key-of-somebody" not in repr(model)


def test_on_google_nothing_stands_in_for_a_key(clone: Clone, pulumi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    behind_a_door(pulumi)
    monkeypatch.delenv("LLM_API_KEY", raising=False)
    (model,) = outputs.read(Target("one", Cloud.GOOGLE, clone.root)).models
    assert (model.behind_door, model.key) == (True, "")


def test_a_stack_that_is_not_up_says_how_to_bring_it_up(clone: Clone, pulumi: Path) -> None:
    with pytest.raises(NotUp, match=r"(?s)two does not exist on google.*Fix: pulumi up --stack two"):
        outputs.read(Target("two", Cloud.GOOGLE, clone.root))
    pulumi.write_text(PULUMI.format(shebang=SHEBANG, outputs="{}"))
    with pytest.raises(NotUp, match=r"(?s)no output gatewayIp, models, cluster.*Fix: pulumi up --stack one"):
        outputs.read(Target("one", Cloud.GOOGLE, clone.root))
    with pytest.raises(NotUp, match=r"(?s)in the rehearsal.*Fix: make up STACK=one"):
        outputs.read(Target("one", Cloud.REHEARSAL, clone.root))


def test_a_missing_login_or_engine_is_said_with_its_fix(
    clone: Clone, pulumi: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target = Target("one", Cloud.GOOGLE, clone.root)
    monkeypatch.setenv("FAILS", "3")
    with pytest.raises(SetUpFailed, match="Fix: pulumi login"):
        outputs.read(target)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(SetUpFailed, match="`pulumi` is not on PATH"):
        outputs.read(target)


@pytest.mark.parametrize("status", [1, 255])
def test_what_the_engine_says_in_english_decides_nothing(
    status: int, clone: Clone, pulumi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILS", str(status))
    with pytest.raises(Unreachable, match=r"cannot be read: error: not found, no stack named, pulumi login"):
        outputs.read(Target("one", Cloud.GOOGLE, clone.root))


def test_a_state_that_does_not_answer_in_time_is_unreachable(
    clone: Clone, pulumi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulumi.write_text(SHEBANG + "import signal\nsignal.pause()\n")
    monkeypatch.setattr(outputs, "ANSWER_SECONDS", 0.5)
    with pytest.raises(Unreachable, match="took longer than"):
        outputs.read(Target("one", Cloud.GOOGLE, clone.root))


def test_short_work_shows_nothing_and_long_work_says_what_it_waits_for(capsys: pytest.CaptureFixture[str]) -> None:
    with working("asking", quiet_seconds=60) as work:
        work.say("asking again")
    assert capsys.readouterr().err == ""
    shown = ""
    with working("asking", quiet_seconds=0) as work:
        until = time.monotonic() + 10
        while not shown and time.monotonic() < until:
            shown = capsys.readouterr().err
        work.say("asking for more")
        work.say("asking for more")
    captured = capsys.readouterr()
    assert (shown, captured.err, captured.out) == ("asking ...\n", "asking for more ...\n", "")


def test_work_within_other_work_is_shown_in_the_line_of_that(capsys: pytest.CaptureFixture[str]) -> None:
    shown = ""
    with working("bringing it up", quiet_seconds=0):
        until = time.monotonic() + 10
        while not shown and time.monotonic() < until:
            shown = capsys.readouterr().err
        with working("asking", quiet_seconds=0) as work:
            work.say("asking again")
    assert (shown, capsys.readouterr().err) == ("bringing it up ...\n", "asking ...\nasking again ...\n")
    with working("the next thing", quiet_seconds=60):
        pass
    assert capsys.readouterr().err == ""


FIRST_WORD = """\
import os, sys
from operations import cli
class First:
    def write(self, text):
        found = [name for name in ("google", "grpc", "httpx", "kr8s", "pulumi", "rich.console") if name in sys.modules]
        os.write(1, f"{text.strip()}|{' '.join(found)}".encode())
        os._exit(0)
    def isatty(self):
        return False
    def flush(self):
        pass
sys.stdout = sys.stderr = First()
cli.main(sys.argv[1:])
"""


ARGUMENTS = {
    "comment": ("--against", "HEAD"),
    "key": ("new", "team-a", "--stack", "eu4a", "--cloud", "google"),
    "report-drift": ("--stack", "eu4a", "--cloud", "google", "--same"),
    "preview-copy": ("--stack", "eu4a", "--state", "state.json", "--into", "copy"),
}
"""How a command is called that does not ask a cloud."""


@pytest.mark.parametrize("name", sorted(cli.COMMANDS.keys() - {"cost"}))  # cost has its result as soon as that
def test_a_command_says_what_it_does_before_it_imports_anything_large(name: str) -> None:
    against = ARGUMENTS.get(name, ("--stack", "eu4a", "--cloud", "google"))
    command = [sys.executable, "-c", FIRST_WORD, name, *against]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    output, _, imported = done.stdout.partition("|")
    assert imported == ""
    assert "eu4a" in output or "HEAD" in output


ON_A_TERMINAL = """\
import sys, time
from operations.progress import working
with working("reading", quiet_seconds=0) as work:
    print("rich.console" in sys.modules)
    work.say("asking " + "x" * 200)
    if sys.argv[1:]:
        while work._shown is None:
            time.sleep(0.01)
print("result")
"""


@pytest.mark.parametrize("turning", [False, True])
def test_on_a_terminal_the_first_line_needs_no_imports_and_is_gone_before_the_result(turning: bool) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, 80))
    environment = {**os.environ, "TERM": "xterm"}
    command = [sys.executable, "-c", ON_A_TERMINAL, *(["turning"] if turning else [])]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # a terminal that nobody holds any more
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    assert process.wait(20) == 0
    lines = shown.decode()
    assert lines.startswith("\r\x1b[Kreading ...False\r\n")
    cut = f"\r\x1b[Kasking {'x' * 72}\r\x1b[K"  # a line that wraps could not be taken away
    assert cut in lines
    assert lines.rstrip().endswith("\x1b[2Kresult" if turning else f"{cut}result")


def test_googles_libraries_announce_nothing_in_the_middle_of_a_command() -> None:
    code = "from operations.cli import main; main(['--help']); import google.api_core; import googleapiclient.discovery"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_an_error_inside_long_work_is_not_lost() -> None:
    with pytest.raises(RuntimeError, match="inside"), working("asking"):
        raise RuntimeError("inside")


WAITING = """\
import signal, sys
from types import SimpleNamespace
from operations import cli
def command():
    print("ready", flush=True)
    signal.pause()
sys.modules["waiting"] = SimpleNamespace(command=command)
cli.COMMANDS["wait"] = cli.Command("waiting", "Waits.")
sys.exit(cli.main(["wait"]))
"""


def test_ctrl_c_ends_a_command_with_130_and_without_a_traceback() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert errors.strip() == "Stopped. You can run the command again."


@pytest.mark.parametrize("entry", [["-m", "operations"], [str(Path(sys.executable).with_name("llmd-gke"))]])
def test_the_module_and_the_script_are_the_same_command(entry: list[str], tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *entry, "cost", "--stack", "eu4a", "--output", "json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["stack"] == "eu4a"


def test_json_and_table_come_out_alone_on_standard_output(clone: Clone) -> None:
    done = run("cost", "--stack", "one", "--output", "json", root=clone.root)
    assert json.loads(done.stdout)["stack"] == "one"
    assert without_age(done.stderr) == []
