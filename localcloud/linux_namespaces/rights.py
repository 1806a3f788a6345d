"""Checks whether this user may create the namespaces, and explains the obstacle and the fix."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from llmd_common import child_process
from llmd_common.problems import SetUpFailed

OTHERS = ("--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
OF_A_USER = ("--user", "--map-root-user", *OTHERS)

SWITCHES = {
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    "/proc/sys/user/max_user_namespaces": ("0", "sysctl -w user.max_user_namespaces=65536"),
}
"""Kernel settings that switch user namespaces off: Debian's, Ubuntu's (from 23.10) and the general one
(https://docs.kernel.org/admin-guide/sysctl/user.html,
https://ubuntu.com/blog/ubuntu-23-10-restricted-unprivileged-user-namespaces)."""

Try = Callable[[Sequence[str]], str]


def tried(options: Sequence[str]) -> str:
    """The error of ``unshare`` with these options; empty if it works."""
    command = ["unshare", *options, "true"]
    done = child_process.run(command)
    return "" if done.returncode == 0 else (done.stderr.strip() or f"status {done.returncode}")


def options(attempt: Try = tried, *, is_root: bool | None = None, switches: Sequence[str] | None = None) -> list[str]:
    """The options for ``unshare``. Root needs no user namespace if those are disabled. Raises ``SetUpFailed`` with the
    obstacle and the command that removes it.
    """
    if sys.platform != "linux":
        raise SetUpFailed(
            f"The laptop cloud requires Linux (this is {sys.platform}).\n"
            "Fix: run it on a Linux machine or in a virtual machine; the rehearsal (`make up`) does not require Linux."
        )
    if not shutil.which("unshare"):
        raise SetUpFailed("`unshare` is not on PATH.\nFix: install util-linux 2.32 or newer.")
    reason = attempt(OF_A_USER)
    if not reason:
        return list(OF_A_USER)
    root = os.geteuid() == 0 if is_root is None else is_root
    if root and not attempt(OTHERS):
        return list(OTHERS)
    off = found_switches() if switches is None else list(switches)
    if off:
        fix = " && ".join(f"sudo {SWITCHES[path][1]}" for path in off)
        names = ", ".join(path.removeprefix("/proc/sys/").replace("/", ".") for path in off)
        raise SetUpFailed(
            f"This system does not allow unprivileged user namespaces ({names}; unshare says: {reason}).\n"
            f"Fix: {fix}\n"
            "or run the command as root. `make up` (the rehearsal) needs neither."
        )
    raise SetUpFailed(
        f"The namespaces of the laptop cloud cannot be created: {reason}.\n"
        "Containers usually forbid it. Fix: start the container with `--security-opt seccomp=unconfined "
        "--security-opt systempaths=unconfined --security-opt apparmor=unconfined` (or `--privileged`), or run the "
        "command outside the container. `make up` (the rehearsal) needs none of this."
    )


def found_switches() -> list[str]:
    """The kernel settings on this machine that prevent user namespaces."""
    switches: list[str] = []
    for path, (off, _) in SWITCHES.items():
        try:
            if Path(path).read_text().strip() == off:
                switches.append(path)
        except OSError:
            continue
    return switches
