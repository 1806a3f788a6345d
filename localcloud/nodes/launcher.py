"""Starts the processes of pods in their namespaces. Run as a script, with the standard library only, to start quickly.

``launcher.py pause NAME``: makes a pod's network, host name and message queues, prints a line, and stays.
``launcher.py start FD`` and ``launcher.py exec FD``: read what to run from standard input (:mod:`.runtime` writes it),
tell the process id as the caller sees it, or ``error TEXT``, by that descriptor, and end: the process then belongs to
the caller, which is its subreaper. With the caller's death it gets SIGKILL, and all that it started with it.

Mounts: mount_namespaces(7), pivot_root(2). A mount from outside may only become read-only together with the flags it
has already, which a user namespace cannot take away.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any, NoReturn

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWPID, CLONE_NEWNET = 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_NOATIME, MS_NODIRATIME, MS_BIND, MS_REC, MS_PRIVATE = 32, 1024, 2048, 4096, 16384, 1 << 18
MS_RELATIME = 1 << 21
MNT_DETACH = 2
PR_SET_PDEATHSIG = 1
POD = CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC
CONTAINER = CLONE_NEWNS | CLONE_NEWPID

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")

libc = ctypes.CDLL(None, use_errno=True)


def libc_call(name: str, *arguments: object) -> None:
    """A function of the C library, in which 0 means that it worked. Raises ``OSError``."""
    if getattr(libc, name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)}: {name}({', '.join(str(a) for a in arguments)})")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Shows a file system or a folder at ``target``."""
    libc_call(
        "mount", os.fsencode(source), os.fsencode(target), kind.encode() or None, ctypes.c_ulong(flags), data.encode()
    )


def bind(source: str, target: str, *, read_only: bool) -> None:
    """Shows a file or folder, with what is mounted below it, at another place, which is made if need be."""
    if os.path.isdir(source):  # noqa: PTH112 - pathlib costs a quarter of this script's start
        os.makedirs(target, exist_ok=True)  # noqa: PTH103
    elif not os.path.exists(target):  # noqa: PTH110
        os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    mount(source, target, flags=MS_BIND | MS_REC)
    if read_only:
        close(target)


def close(target: str) -> None:
    """Makes one mount read-only."""
    has = os.statvfs(target).f_flag
    # statvfs(3) and mount(2) give the same numbers to these, but for relatime.
    kept = has & (MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME | MS_NODIRATIME) | (MS_RELATIME if has & 4096 else 0)
    mount("none", target, flags=MS_REMOUNT | MS_BIND | MS_RDONLY | kept)


def write(path: str, content: str) -> None:
    """A small file of the root file system."""
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
    with open(path, "w") as file:  # noqa: PTH123
        file.write(content)


def enter_root(spec: dict[str, Any]) -> None:
    """Makes the container's file system in memory and makes it the root."""
    mount("none", "/", flags=MS_REC | MS_PRIVATE)
    root = spec["root"]
    mount("tmpfs", root, "tmpfs", MS_NOSUID, "mode=755")
    for folder in ("proc", "dev", "dev/shm", "tmp", "etc", "root", "home", "run", "sys", "var/tmp"):
        os.makedirs(f"{root}/{folder}", exist_ok=True)  # noqa: PTH103
    for folder in ("tmp", "var/tmp", "dev/shm"):
        os.chmod(f"{root}/{folder}", 0o1777)  # noqa: PTH101, S103
    mount("proc", f"{root}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for device in DEVICES:
        bind(f"/dev/{device}", f"{root}/dev/{device}", read_only=False)
    for link, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{target}", f"{root}/dev/{link}")  # noqa: PTH211
    for link, target in spec["links"].items():
        os.makedirs(os.path.dirname(root + link), exist_ok=True)  # noqa: PTH103, PTH120
        os.symlink(target, root + link)  # noqa: PTH211
    for one in spec["image"]:
        bind(one["source"], root + one["target"], read_only=True)
    for path, content in spec["files"].items():
        write(root + path, content)
    for one in spec["mounts"]:
        bind(one["source"], root + one["target"], read_only=one["readOnly"])
    os.makedirs(root + spec["folder"], exist_ok=True)  # noqa: PTH103
    if spec["readOnlyRoot"]:
        close(root)
    os.chdir(root)
    libc_call("pivot_root", b".", b".")
    libc_call("umount2", b".", MNT_DETACH)
    os.chdir(spec["folder"])


def enter_folder(spec: dict[str, Any]) -> None:
    """Enters the working directory of a running container, for a command in it."""
    os.chdir(spec["folder"])


def find(program: str, environment: dict[str, str]) -> str:
    """Where a command is, by the container's own PATH. Raises ``OSError`` as a runtime would word it."""
    if "/" in program:
        folders = [program]
    else:
        folders = [f"{folder}/{program}" for folder in environment.get("PATH", "").split(":")]
    for directory in folders:
        if os.access(directory, os.X_OK) and not os.path.isdir(directory):  # noqa: PTH112
            return directory
    raise OSError(f'exec: "{program}": executable file not found in $PATH')


def run(spec: dict[str, Any]) -> NoReturn:
    """Replaces this process by the command."""
    environment: dict[str, str] = spec["environment"]
    program = find(spec["command"][0], environment)
    for number in (signal.SIGPIPE, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    os.execve(program, spec["command"], environment)  # noqa: S606 - no shell


def fork(spec: dict[str, Any], before: Callable[[dict[str, Any]], None], descriptor: int) -> None:
    """Runs the command in a child that outlives this process, once this process is gone."""
    parent = os.pidfd_open(os.getpid())
    result = os.fdopen(descriptor, "w")
    child = os.fork()
    if child:
        result.write(f"{child}\n")
        result.flush()
        os._exit(0)
    try:
        select.select([parent], [], [])  # readable once the parent is gone, and the kubelet is the parent
        os.close(parent)
        libc_call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.setsid()
        os.set_inheritable(descriptor, False)
        before(spec)
        run(spec)
    except Exception as error:  # whatever it is, the kubelet has to hear of it
        result.write(f"error {str(error).replace(chr(10), ' ')}\n")
        result.flush()
        os._exit(128)


def join(pid: int, kinds: int) -> None:
    """Joins namespaces of a process."""
    descriptor = os.pidfd_open(pid)
    libc_call("setns", descriptor, kinds)
    os.close(descriptor)


def main() -> None:
    """Runs the subcommand in ``sys.argv``, see the module's docstring."""
    mode = sys.argv[1]
    if mode == "pause":
        libc_call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        libc_call("unshare", POD)
        socket.sethostname(sys.argv[2])
        print("ready", flush=True)
        signal.pause()
        return
    descriptor = int(sys.argv[2])
    spec = json.load(sys.stdin)
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    try:
        join(spec["pod"], POD)
        if mode == "start":
            libc_call("unshare", CONTAINER)
        else:
            join(spec["container"], CONTAINER)
    except OSError as error:
        os.write(descriptor, f"error {error}\n".encode())
        sys.exit(1)
    fork(spec, enter_root if mode == "start" else enter_folder, descriptor)


if __name__ == "__main__":
    main()
