"""Runs one command of a life cycle as a user runs it, watches it, and kills what the step names."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from localcloud.binaries.table import GOOGLE_PROVIDER
from localcloud.google_api.core.cloud import API_FILE
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.tests.life_cycle.steps import Kill, Victim
from localcloud.workflow import cloud_files, processes
from tests.real_engine.harness import Rehearsal

LIMIT_SECONDS = 300.0
POLL_SECONDS = 0.1
MARKS: dict[Victim, str] = {
    "provider": GOOGLE_PROVIDER,
    "emulator": "localcloud.google_api.plugin",
    "kubernetes": "localcloud.providers.kubernetes",
}
"""A word of the command line. The provider itself is a child of the program that serves the emulator."""


@dataclass
class Ended:
    """How a command ended: its status, all it said, and whether the kill came.

    ``asked``: how often the clouds were asked. ``arguments``: command lines that were seen on the machine.
    """

    status: int
    output: str
    killed: bool = False
    asked: int = 0
    arguments: set[str] = field(default_factory=set[str])


def run(rehearsal: Rehearsal, command: list[str], kill: Kill | None) -> Ended:
    """Runs a command to its end. Raises ``AssertionError`` where it takes longer than :data:`LIMIT_SECONDS`."""
    log = rehearsal.folder / f"output-{len(list(rehearsal.folder.glob('output-*'))) + 1}.txt"
    ended = Ended(0, "")
    started, asked = time.monotonic(), _asked(rehearsal)
    with log.open("w") as file, subprocess.Popen(
        command, cwd=rehearsal.root, env=rehearsal.environment,
        stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
    ) as process:  # fmt: skip
        rehearsal.running.append(process)  # type: ignore[arg-type]
        while process.poll() is None:
            if time.monotonic() - started > LIMIT_SECONDS:
                process.kill()
                raise AssertionError(f"{command} took longer than {LIMIT_SECONDS:.0f} s:\n{log.read_text()}")
            ended.arguments |= _command_lines()
            if kill and not ended.killed and _asked(rehearsal) - asked >= kill.after:
                ended.killed = _kill(rehearsal, kill.victim)
            time.sleep(POLL_SECONDS)
    ended.status, ended.output, ended.asked = process.returncode, log.read_text(), _asked(rehearsal) - asked
    return ended


def local(*arguments: str) -> list[str]:
    """What a target of the Makefile runs."""
    return [sys.executable, "-m", "localcloud", *arguments]


def plain(rehearsal: Rehearsal, *arguments: str) -> list[str]:
    """A plain command of the engine, as in a shell that sourced the file `make up` names."""
    return ["sh", "-c", f'. "{rehearsal.workdir.env_script}" && exec pulumi "$@"', "pulumi", *arguments]


def _asked(rehearsal: Rehearsal) -> int:
    """How often the clouds were asked: lines of their records, which are cut now and then."""
    files = (rehearsal.workdir.cloud / name for name in (cloud_files.REQUESTS, "calls.log"))
    return sum(file.read_bytes().count(b"\n") for file in files if file.exists())


def _kill(rehearsal: Rehearsal, victim: Victim) -> bool:
    if victim == "engine":
        chosen = processes.engines(rehearsal.workdir)
    else:
        chosen = [one for one in processes.left_over(rehearsal.workdir) if _is(one, MARKS[victim])]
    # A request of Google is done or not: the emulator writes two files, and is not killed between them.
    written = CloudFile(rehearsal.workdir.cloud / API_FILE).edit() if victim == "emulator" else nullcontext()
    with written:
        for one in chosen:
            try:
                one.kill()
            except psutil.NoSuchProcess:
                continue
    return bool(chosen)


def _is(process: psutil.Process, mark: str) -> bool:
    try:
        command = process.cmdline()
    except psutil.Error:
        return False
    return bool(command) and (Path(command[0]).name == mark or mark in command[:4])


def _command_lines() -> set[str]:
    """Of every process on the machine: whoever looks at the process list sees them."""
    lines: set[str] = set()
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.add(file.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:  # it has just ended
            continue
    return lines
