"""Ctrl-C on a terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys

from localcloud.workflow import state
from tests.real_engine.harness import Rehearsal, until


def test_ctrl_c_on_a_terminal_reaches_the_engine_once(small: Rehearsal) -> None:
    small.google_faults({"fault": "slow", "method": "compute.networks.insert", "seconds": 3})
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "localcloud", "up"],
        cwd=small.folder,
        env={**small.environment, "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: take_terminal(theirs),
    )
    small.running.append(process)  # type: ignore[arg-type]
    os.close(theirs)
    shown = bytearray()

    def network_is_made() -> bool:
        read(ours, shown)
        return any(ident.endswith("/net") for ident in small.cloud())

    until(network_is_made, "the network is in the cloud")
    os.write(ours, b"\x03")
    until(lambda: read(ours, shown) or process.poll() is not None, "make up ends", wait_seconds=60)
    read(ours, shown)
    os.close(ours)
    text = shown.decode(errors="replace")
    assert process.returncode == 130, text
    assert text.count("^C received") == 1
    assert "Traceback" not in text
    assert state.locks(small.workdir, "local") == []
    small.google_faults()
    small.up()
    assert len(small.cloud()) == 3


def take_terminal(terminal: int) -> None:
    """Makes it the controlling terminal of the new session."""
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


def read(terminal: int, into: bytearray) -> None:
    """Takes what is there, so that the other side never waits for us."""
    while select.select([terminal], [], [], 0)[0]:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            return
        if not piece:
            return
        into += piece
