"""Runs a command inside a laptop cloud: ``python -I .../enter.py PID COMMAND...``; it imports only the standard
library, to start quickly.

util-linux' ``nsenter`` does not suffice because of signals: it is killed by them and leaves the command running, which
must get them instead (Ctrl-C lets the engine finish its step). This script waits for the command, passes signals on,
and exits with the command's status.

Each signal reaches the command once: a second SIGINT would make the engine stop in the middle of its step. On a
terminal the command shares our process group, or it could not use the terminal, and gets Ctrl-C from there. Without one
it has a group of its own, and what a program sends to ours comes by us alone.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
"""Constants of linux/sched.h; Python has them, and ``os.setns``, from 3.12 on."""

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
FROM_KERNEL = 0x80
"""``si_code`` of a signal that the terminal sent (SI_KERNEL): the command, in the same group, has it already."""

PR_SET_PDEATHSIG = 1
"""Constant of linux/prctl.h."""

NOT_STARTED = 127


def command(pid: int, arguments: Sequence[str]) -> list[str]:
    """The command line that runs ``arguments`` in the namespaces of process ``pid``."""
    return [sys.executable, "-I", str(Path(__file__).resolve()), str(pid), *arguments]


def join(pid: int) -> None:
    """Joins the namespaces of a process; children of this process are then completely inside. Raises ``OSError``."""
    folder = Path.cwd()
    kinds = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET
    if os.readlink("/proc/self/ns/user") != os.readlink(f"/proc/{pid}/ns/user"):  # noqa: PTH115 - not a real path
        kinds |= CLONE_NEWUSER
    descriptor = os.pidfd_open(pid)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(ctypes.c_int(descriptor), ctypes.c_int(kinds)):  # by a pidfd: Linux 5.8
            raise OSError(ctypes.get_errno(), f"setns: {os.strerror(ctypes.get_errno())}")
    finally:
        os.close(descriptor)
    os.chdir(folder)  # joining a mount namespace leaves one at its root


def run(pid: int, arguments: Sequence[str]) -> int:
    """Runs a command inside and returns its status as a shell would: 128 and the signal's number when one ended it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {*PASSED_ON, signal.SIGCHLD})
    shares_group = _has_terminal()
    join(pid)
    child = os.fork()
    if child == 0:
        if not shares_group:
            os.setpgid(0, 0)
            # Nothing must be left behind even if our group is killed.
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {*PASSED_ON, signal.SIGCHLD})
        try:
            os.execvp(arguments[0], list(arguments))  # noqa: S606 - no shell
        except OSError as error:
            print(f"{arguments[0]}: {error.strerror}", file=sys.stderr)
            os._exit(NOT_STARTED)
    while True:
        came = signal.sigwaitinfo({*PASSED_ON, signal.SIGCHLD})
        if came.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
        elif not (shares_group and came.si_code == FROM_KERNEL):
            os.kill(child, came.si_signo)


def _has_terminal() -> bool:
    """Whether this process has a controlling terminal, wherever its input comes from."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def main(arguments: Sequence[str]) -> int:
    """Runs a command inside; prints an error if the laptop cloud has ended."""
    try:
        return run(int(arguments[0]), arguments[1:])
    except OSError as error:
        print(f"The laptop cloud cannot be entered: {error}.\nFix: make up CLOUD=laptop", file=sys.stderr)
        return NOT_STARTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
