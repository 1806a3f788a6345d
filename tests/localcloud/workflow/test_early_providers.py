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


def test_a_killed_command_leaves_no_provider(tmp_path: Path) -> None:
    workdir = laid_out(tmp_path)
    code = (
        "import os, sys, pathlib; from localcloud.common.workdir import Workdir; "
        "from localcloud.common.environment import clean; from localcloud.workflow import early_providers; "
        "root = pathlib.Path(sys.argv[1]); workdir = Workdir(root, root / 'home', 'rehearsal')\n"
        "with early_providers.started(workdir, 'up', clean(os.environ, workdir)): print('up', flush=True); input()"
    )
    command = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert command.stdout is not None
    assert command.stdout.readline() == b"up\n"

    early = running(workdir, command.pid)
    assert len(early) == 2
    command.kill()
    command.wait()
    eventually(lambda: not any(has_home(Path("/proc", str(pid)), workdir) for pid in early))
    command.stdout.close()
    assert command.stdin is not None
    command.stdin.close()


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


def test_a_variable_of_the_user_leads_to_no_other_provider(tmp_path: Path) -> None:
    assert STARTED_PROVIDERS not in clean({STARTED_PROVIDERS: str(tmp_path)}, Workdir(tmp_path, tmp_path / "home"))


def test_the_engine_gets_the_providers_that_were_started_with_it(tmp_path: Path) -> None:
    workdir = laid_out(tmp_path)
    program = tmp_path / "pulumi"
    program.write_text(f'#!/bin/sh\nls "${STARTED_PROVIDERS}"\n')
    program.chmod(0o755)
    runner = Runner(workdir, Engine(program, "3.259.0", "made for a test"))
    assert runner.ask("preview").split() == ["gcp", "kubernetes"]
    assert runner.stream("up") == 0, "the folder was there"
    assert runner.stream("stack", "ls") != 0, "no folder"
