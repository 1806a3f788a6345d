"""A rehearsal of its own for a test: a copy of the project, a home, the real engine."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar, cast

import yaml

from llmd_common import bootstrap
from llmd_gke.repository import CLONE
from llmd_gke.settings import required_secrets
from localcloud.common.environment import clean
from localcloud.common.workdir import CLOUD, Workdir, cache_folder
from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.core.journal import Journal
from localcloud.providers.protocol.values import JsonObject
from localcloud.pulumi_cli import resolve
from localcloud.workflow import cloud_files, config, home, processes, state
from localcloud.workflow.runner import Runner
from localcloud.workflow.settings import settings_of

LINKED = ("__main__.py", "charts", "components", "llmd_common", "llmd_gke", "policies", "quick_sdk", ".venv")
WAIT_SECONDS = 120.0

GOOGLE = """
from importlib.metadata import version
from fnmatch import fnmatchcase
from typing import Any, cast

import pulumi


class Google(pulumi.CustomResource):
    address: pulumi.Output[str]

    def __init__(self, kind: str, name: str, needs: tuple[pulumi.Resource, ...] = (), **inputs: Any) -> None:
        options = pulumi.ResourceOptions(version=version("pulumi-gcp"), depends_on=needs)
        super().__init__(f"gcp:compute/{kind}", name, {"name": name, "address": None, **inputs}, options)
"""
"""A resource of Google's Compute API as ``pulumi_gcp.compute`` registers it. Importing its 4,800 classes takes longer
than all else that a small program does."""

SMALL_PROGRAM = f"""{GOOGLE}
wanted = pulumi.Config().require_object("models")[0]["replicas"] - 1
network = Google("network:Network", "net", autoCreateSubnetworks=False)
addresses = [Google("address:Address", f"ip{{i}}", (network,), region="europe-west4") for i in range(wanted)]
pulumi.export("address", addresses[0].address)
pulumi.export("password", pulumi.Output.secret("geheim"))
"""
"""Three resources and a secret output: for tests of the life cycle, not of the product."""

APIS_ON = {"enabledApis": ["*"]}


@dataclass
class Rehearsal:
    """One project folder and its rehearsal. Commands run as users run them: ``python -m localcloud``, `pulumi`."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])
    running: list[subprocess.Popen[str]] = field(default_factory=list[subprocess.Popen[str]])
    longest_seconds: ClassVar[int] = 600
    """Limit of a command."""

    @property
    def root(self) -> Path:
        return self.folder / "project"

    @property
    def workdir(self) -> Workdir:
        return Workdir(self.root, self.folder / "home")

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the user who types the command."""
        # The other cloud's name, which a command has left in this process, would make the home that cloud's.
        kept = {name: value for name, value in os.environ.items() if name != CLOUD}
        return {
            **kept,
            "LLMD_GKE_HOME": str(self.workdir.home),
            "LLMD_GKE_ROOT": str(self.root),
            "LLMD_GKE_FAULTS": str(self.folder / "faults.json"),
            "PYTHONPATH": str(CLONE),
            "NO_COLOR": "1",
            **self.environ,
        }

    # -- preparing ---------------------------------------------------------------------------------------------------

    def copy_project(self) -> None:
        """A project folder under git whose program, components and library are those of the clone."""
        self.root.mkdir(parents=True)
        bootstrap.write_path(CLONE / ".venv")  # as `make` leaves it, where only pytest was run
        for name in LINKED:
            if (CLONE / name).exists():
                (self.root / name).symlink_to(CLONE / name)
        for file in [*CLONE.glob("Pulumi*.yaml"), CLONE / ".gitignore"]:
            shutil.copy(file, self.root)
        self.faults(APIS_ON)
        with (self.root / ".gitignore").open("a") as file:
            file.write("/.venv\n")
        self.commit()

    def continue_from(self, folder: Path) -> None:
        """Takes over project, state and cloud of another rehearsal, which nothing works on."""
        shutil.copytree(folder, self.folder, symlinks=True, dirs_exist_ok=True)
        engine = resolve.ready(cache_folder())
        assert engine is not None
        home.prepare(self.workdir, engine)  # wrapper and environment name the folder they are in

    def commit(self) -> None:
        """Everything as it is now becomes the committed state."""
        for command in (
            ["init", "-q"],
            ["add", "-A"],
            ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "t"],
        ):
            subprocess.run(["git", *command], cwd=self.root, check=True, capture_output=True)

    def program(self, text: str) -> None:
        """Replaces the program."""
        main = self.root / "__main__.py"
        main.unlink()
        main.write_text(text)
        self.commit()

    @contextmanager
    def released_with(self, versions: Mapping[str, str]) -> Generator[None]:
        """Within the block the program is that of a release with other versions, by their texts in its file."""
        library = self.root / "llmd_gke"
        library.unlink()
        shutil.copytree(CLONE / "llmd_gke", library)
        file = library / "catalog/versions.toml"
        text = file.read_text()
        for now, then in versions.items():
            assert text.count(now) == 1, now
            text = text.replace(now, then)
        file.write_text(text)
        try:
            yield
        finally:
            shutil.rmtree(library)
            library.symlink_to(CLONE / "llmd_gke")

    def edit(self, stack: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Edits the ``config`` table of a stack file in place."""
        file = self.workdir.stack_file(stack)
        content = yaml.safe_load(file.read_text())
        change(content["config"])
        file.write_text(yaml.safe_dump(content, sort_keys=False))

    def faults(self, faults: Mapping[str, object]) -> None:
        """Conditions of both clouds, see ``localcloud.providers.protocol.faults``."""
        (self.folder / "faults.json").write_text(json.dumps(faults))

    def google_faults(self, *faults: JsonObject) -> None:
        """Faults for Google's emulator to show, in place of those before: ``localcloud.google_api.core.faults``."""
        emulated = EmulatedCloud(self.workdir.cloud)
        with emulated.opened():
            emulated.faults.set(faults)

    # -- running -----------------------------------------------------------------------------------------------------

    def make(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """What a target of the Makefile runs; output and messages together in ``stdout``."""
        return self._run([sys.executable, "-m", "localcloud", *arguments], check)

    def up(self, stack: str = "local", *, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.make("up", "--stack", stack, check=check)

    def preview(self, stack: str = "local", *, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.make("preview", "--stack", stack, check=check)

    def down(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.make("down", *arguments, check=check)

    def pulumi(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """A plain command, as in a shell that sourced the file `make up` names."""
        return self.typed(f"pulumi {shlex.join(arguments)}", check=check)

    def typed(self, line: str, *, check: bool = True) -> subprocess.CompletedProcess[str]:
        """A line that is typed into such a shell."""
        return self._run(["sh", "-c", f'. "{self.workdir.env_script}" && {line}'], check, cwd=self.root)

    def _run(self, command: list[str], check: bool, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command,
            cwd=cwd or self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=self.longest_seconds,
        )
        if check:
            assert done.returncode == 0, done.stdout
        return done

    @contextmanager
    def started(self, *arguments: str) -> Generator[subprocess.Popen[str]]:
        """A command that runs beside the test, in a process group of its own."""
        process = subprocess.Popen(
            [sys.executable, "-m", "localcloud", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.running.append(process)
        yield process

    # -- looking -----------------------------------------------------------------------------------------------------

    def events(self, *arguments: str, stack: str = "local", check: bool = True) -> list[dict[str, Any]]:
        """The engine's own events of a command such as ``preview`` or ``up --yes --skip-preview``."""
        engine = resolve.ready(cache_folder())
        assert engine is not None
        config.sync(self.workdir, stack, required_secrets(settings_of(self.workdir, stack)))
        log = self.folder / "events.jsonl"
        log.unlink(missing_ok=True)
        environment = clean(self.environment, self.workdir) | {"PULUMI_DEBUG_COMMANDS": "true"}
        flags = ["--stack", stack, "--config-file", str(self.workdir.stack_copy(stack)), "--event-log", str(log)]
        command = [str(engine.pulumi), "-C", str(self.root), "--non-interactive", *arguments, *flags]
        entered = self.entered(command)
        done = subprocess.run(entered, env=environment, capture_output=True, text=True, check=False)
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in log.read_text().splitlines()]

    def entered(self, command: list[str]) -> list[str]:
        """The command line that runs a command where the engine runs."""
        return command

    def steps(self, *arguments: str, stack: str = "local") -> dict[str, str]:
        """What a command does to each resource, by its name: ``create``, ``update``, ``same``, ..."""
        result: dict[str, str] = {}
        for event in self.events(*arguments, stack=stack):
            if step := event.get("resourcePreEvent"):
                result[step["metadata"]["urn"].rpartition("::")[2]] = step["metadata"]["op"]
        return result

    def cloud(self) -> dict[str, Mapping[str, object]]:
        """Everything in both clouds, by id."""
        return cloud_files.objects(self.workdir)

    def kept(self, name: str = "google-api") -> dict[str, Any]:
        """What Google's emulator keeps."""
        file = self.workdir.cloud / f"{name}.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def requests(self, *methods: str) -> list[dict[str, Any]]:
        """The requests to Google's emulator that succeeded, by patterns of their methods."""
        journal = cast("list[dict[str, Any]]", Journal(self.workdir.cloud / cloud_files.REQUESTS).last())
        of_method = [one for one in journal if any(fnmatchcase(one["method"], method) for method in methods)]
        return [one for one in of_method if one["status"] < 300]

    def state(self, stack: str = "local") -> state.Stack | None:
        return state.read(self.workdir, stack)

    def worktree(self) -> str:
        """What git says has changed; empty for a clean worktree."""
        command = ["git", "status", "--porcelain"]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=True).stdout

    def runner(self) -> Runner:
        engine = resolve.ready(cache_folder())
        assert engine is not None
        return Runner(self.workdir, engine)

    def processes(self) -> list[str]:
        """Command lines of everything of this rehearsal that runs."""
        return [str(one) for one in (*processes.engines(self.workdir), *processes.left_over(self.workdir))]

    def stop_everything(self) -> None:
        """Ends what a test started, whatever became of it."""
        for process in self.running:
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
        processes.end([*processes.engines(self.workdir), *processes.left_over(self.workdir)])


def until(condition: Callable[[], Any], what: str, wait_seconds: float = WAIT_SECONDS) -> Any:
    """Waits until a condition holds and returns its value; fails naming ``what`` when it does not in time."""
    deadline = time.monotonic() + wait_seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited {wait_seconds:.0f} s in vain: {what}"
        time.sleep(0.05)
    return value
