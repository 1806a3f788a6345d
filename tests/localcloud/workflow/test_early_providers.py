"""Stand-ins that are started together with the engine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import grpc
import pytest
from google.protobuf import empty_pb2

from localcloud.common.environment import STARTED_PROVIDERS, clean
from localcloud.common.workdir import CloudKind, Workdir
from localcloud.providers.protocol.protos import provider_pb2_grpc
from localcloud.pulumi_cli.discover import Engine
from localcloud.workflow import early_providers, home
from localcloud.workflow.runner import Runner
from tests.waiting import eventually


def laid_out(tmp_path: Path, kind: CloudKind = "rehearsal") -> Workdir:
    """A folder with the launchers of a local cloud."""
    workdir = Workdir(tmp_path, tmp_path / "home", kind)
    workdir.cloud.mkdir(parents=True)
    for launcher, content in home.launchers(workdir).items():
        launcher.parent.mkdir(parents=True)
        launcher.write_text(content)
        launcher.chmod(0o755)
    return workdir


class Launched:
    """A provider as the engine starts it."""

    def __init__(self, launcher: Path, environment: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([launcher, "127.0.0.1:1"], env=environment, stdin=pipe, stdout=pipe)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def version(self) -> str:
        """What the provider answers."""
        with grpc.insecure_channel(f"127.0.0.1:{self.port}") as channel:
            stub = provider_pb2_grpc.ResourceProviderStub(channel)
            return stub.GetPluginInfo(empty_pb2.Empty(), timeout=10).version

    def command(self) -> str:
        """The program that the launcher has become."""
        return Path(f"/proc/{self.process.pid}/cmdline").read_text().split("\0")[0]

    def end(self) -> None:
        """Ends it as the engine does."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()


def running(workdir: Workdir, parent: int) -> list[int]:
    """The children of a process that have the home folder in their environment."""
    processes = (entry for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [int(entry.name) for entry in processes if parent_of(entry) == parent and has_home(entry, workdir)]


def parent_of(process: Path) -> int | None:
    """The number of the process that started one; ``None`` if it has ended."""
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def has_home(process: Path, workdir: Workdir) -> bool:
    """Whether a process has the home folder in its environment, which one that has ended does not show."""
    try:
        return f"LLMD_GKE_HOME={workdir.home}".encode() in (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


def test_the_first_launcher_uses_the_provider_that_runs_and_the_second_one_starts_its_own(tmp_path: Path) -> None:
    workdir = laid_out(tmp_path)
    launcher = home.stand_ins(workdir)["kubernetes"]
    with early_providers.started(workdir, "preview", clean(os.environ, workdir)) as environment:
        first = Launched(launcher, environment)
        second = Launched(launcher, environment)
        assert first.port != second.port
        assert first.version() == second.version() != ""
        assert Path(first.command()).name == "cat"
        assert "python" in second.command()
        for one in (first, second):
            one.end()
        assert len(running(workdir, os.getpid())) == 2, "both of the command go on until it ends"
    assert running(workdir, os.getpid()) == []
    assert [entry for entry in workdir.home.iterdir() if entry.name.startswith("providers-")] == []


def test_an_early_provider_runs_in_the_projects_folder_as_the_engines_own_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workdir = laid_out(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with early_providers.started(workdir, "up", clean(os.environ, workdir)):
        folders = {(Path("/proc") / str(one) / "cwd").resolve() for one in running(workdir, os.getpid())}
    assert folders == {workdir.root}


def command(workdir: Workdir) -> subprocess.Popen[str]:
    """A command that has started providers early, and has printed their folder."""
    code = (
        "import os, sys, pathlib; from localcloud.common.workdir import Workdir; "
        "from localcloud.common.environment import STARTED_PROVIDERS, clean; "
        "from localcloud.workflow import early_providers; "
        "root = pathlib.Path(sys.argv[1]); workdir = Workdir(root, root / 'home', 'rehearsal')\n"
        "with early_providers.started(workdir, 'up', clean(os.environ, workdir)) as environment:\n"
        "    print(environment[STARTED_PROVIDERS], flush=True); input()"
    )
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", code, str(workdir.root)], stdin=pipe, stdout=pipe, text=True)


def ended(workdir: Workdir, processes: list[int]) -> bool:
    """Whether none of the processes runs."""
    return not any(has_home(Path("/proc", str(one)), workdir) for one in processes)


def test_a_killed_command_leaves_only_the_provider_that_its_engine_has_taken(tmp_path: Path) -> None:
    workdir = laid_out(tmp_path)
    with command(workdir) as killed:
        assert killed.stdout is not None
        environment = {**clean(os.environ, workdir), STARTED_PROVIDERS: killed.stdout.readline().strip()}
        early = running(workdir, killed.pid)
        assert len(early) == 2
        taken = Launched(home.stand_ins(workdir)["gcp"], environment)
        killed.kill()
    eventually(lambda: len([one for one in early if not ended(workdir, [one])]) == 1)
    assert taken.version(), "the engine goes on"
    later = Launched(home.stand_ins(workdir)["kubernetes"], environment)
    assert later.version()
    for one in (taken, later):
        one.end()
    eventually(lambda: ended(workdir, early))


def test_a_launcher_starts_a_provider_where_the_early_one_has_ended(tmp_path: Path) -> None:
    workdir = laid_out(tmp_path)
    launcher = home.stand_ins(workdir)["gcp"]
    broken = tmp_path / "no-python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    environment = clean(os.environ, workdir)
    with early_providers.started(workdir, "up", {**environment, "LLMD_GKE_STANDIN_PYTHON": str(broken)}) as given:
        eventually(lambda: running(workdir, os.getpid()) == [])
        launched = Launched(launcher, {**given, "LLMD_GKE_STANDIN_PYTHON": sys.executable})
        assert launched.version()
        launched.end()


@pytest.mark.parametrize(("subcommand", "switch"), [("stack", ""), ("config", ""), ("preview", "0")])
def test_no_provider_is_started_for_other_commands_or_where_that_is_switched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subcommand: str, switch: str
) -> None:
    monkeypatch.setenv(early_providers.SWITCH, switch)
    with early_providers.started(laid_out(tmp_path), subcommand, {"PATH": "/bin"}) as environment:
        assert environment == {"PATH": "/bin"}


def test_no_provider_is_started_outside_of_a_laptop_clouds_namespaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(home.GOOGLE, "hand-written")
    monkeypatch.setattr("localcloud.binaries.path", lambda name: Path("/programs") / name)
    with early_providers.started(laid_out(tmp_path, "laptop"), "up", {}) as environment:
        assert environment == {}


def test_without_a_folder_a_launcher_takes_nothing(tmp_path: Path) -> None:
    workdir = laid_out(tmp_path)
    moved = tmp_path / "moved"
    (tmp_path / "bin").mkdir()
    mv = tmp_path / "bin/mv"
    mv.write_text(f"#!/bin/sh\ntouch {moved}\nexit 1\n")
    mv.chmod(0o755)
    environment = clean(os.environ, workdir)
    launched = Launched(
        home.stand_ins(workdir)["gcp"], {**environment, "PATH": f"{mv.parent}{os.pathsep}{environment['PATH']}"}
    )
    launched.end()
    assert not moved.exists()


def test_a_folder_that_cannot_be_made_leaves_the_start_to_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "mkfifo", full)
    workdir = laid_out(tmp_path)
    with early_providers.started(workdir, "up", {"PATH": "/bin"}) as environment:
        assert environment == {"PATH": "/bin"}
    assert [entry for entry in workdir.home.iterdir() if entry.name.startswith("providers-")] == []


def test_a_variable_of_the_user_leads_to_no_other_provider(tmp_path: Path) -> None:
    assert STARTED_PROVIDERS not in clean({STARTED_PROVIDERS: str(tmp_path)}, Workdir(tmp_path, tmp_path / "home"))


def test_the_engine_gets_the_providers_that_were_started_with_it(tmp_path: Path) -> None:
    workdir = laid_out(tmp_path)
    program = tmp_path / "pulumi"
    program.write_text(f'#!/bin/sh\nls "${STARTED_PROVIDERS}"\n')
    program.chmod(0o755)
    runner = Runner(workdir, Engine(program, "3.259.0", "made for a test"))
    assert {"gcp", "kubernetes"} <= set(runner.ask("preview").split())
    assert runner.stream("up") == 0, "the folder was there"
    assert runner.stream("stack", "ls") != 0, "no folder"
