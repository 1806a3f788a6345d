"""How the laptop cloud's daemons start and end: each test runs a small daemon as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from llmd_common.problems import BadInput, SetUpFailed
from llmd_gke.repository import CLONE

BEGIN = """
import asyncio, signal
from localcloud.common import daemon
from llmd_common.problems import SetUpFailed
"""


def start(source: str, home: Path | None) -> subprocess.Popen[str]:
    """A daemon whose ``main`` is in ``source``."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LLMD_GKE_")}
    environment |= {"PYTHONPATH": str(CLONE)} | ({"LLMD_GKE_HOME": str(home)} if home else {})
    command = [sys.executable, "-c", f"{BEGIN}{textwrap.dedent(source)}\ndaemon.run(main)\n"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Its status, its output and its errors."""
    try:
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, output, errors


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_a_daemon_end_in_order_and_a_second_one_does_not_cut_that_short(
    tmp_path: Path, sent: signal.Signals
) -> None:
    process = start(
        """
        async def main(layout):
            last = asyncio.Event()
            asyncio.get_running_loop().add_signal_handler(signal.SIGWINCH, last.set)
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(asyncio.Event().wait())
                    print("runs", flush=True)
            finally:
                print("ends", flush=True)
                await last.wait()
                print("all of", layout.home, flush=True)
        """,
        tmp_path,
    )
    assert process.stdout
    try:
        assert process.stdout.readline() == "runs\n"
        process.send_signal(sent)
        assert process.stdout.readline() == "ends\n"
        process.send_signal(sent)
        process.send_signal(signal.SIGWINCH)  # of signals that wait, the lowest number comes first
    finally:
        output = ended(process)
    assert output == (0, f"all of {tmp_path}\n", "")


@pytest.mark.parametrize("where", ["itself", "a task", "a task's task"])
def test_an_expected_failure_is_told_without_a_traceback_wherever_it_comes_from(tmp_path: Path, where: str) -> None:
    source = f"""
        async def within(depth):
            if depth == 0:
                raise SetUpFailed("The API server does not answer.")
            async with asyncio.TaskGroup() as group:
                group.create_task(within(depth - 1))

        async def main(layout):
            await within({["itself", "a task", "a task's task"].index(where)})
        """
    assert ended(start(source, tmp_path)) == (SetUpFailed.status, "", "The API server does not answer.\n")


def test_without_its_folder_a_daemon_says_what_is_missing() -> None:
    status, _, errors = ended(start("async def main(layout): print('served')", None))
    assert status == BadInput.status
    assert errors.startswith("LLMD_GKE_HOME is not set")
    assert "Fix: make up CLOUD=laptop" in errors
