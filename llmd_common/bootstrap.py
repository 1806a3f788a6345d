"""Creates ``.venv`` from the hash-pinned requirements, with nothing but the standard library.

``python3 llmd_common/bootstrap.py operations|laptop|dev`` installs a set, ``--beside SET`` one into the cache.
``--remove SET`` removes that again, with what was made with it. ``--scripts`` only adds this clone and its commands to
a ``.venv`` that the user made.
uv, itself checked by hash, does the work from a small environment of its own in the cache folder. A stamp in ``.venv``
holds the hash of what is installed, so that a second run takes a few milliseconds and an interrupted one is repeated.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
REQUIREMENTS = tuple(ROOT / one for one in ("requirements", "localcloud/requirements", "llmd_common/requirements"))
"""The folders of the sets; an installed local cloud has the last two."""
SETS = ("program", "operations", "laptop", "dev")  # each file adds to the one before it, which it includes (`-r`)
BESIDE = ("bench", "clients", "front-door", "vllm", "weights")
"""Sets that are each in an environment of its own in the cache, made at first use. ``SET.without`` lists packages that
are left out, ``SET.overrides`` versions other than those that packages ask for, ``SET.unused`` files to remove.
"""
OLDEST, NEWEST = (3, 11), (3, 14)
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
PROGRESS_SECONDS = 10
SCRIPT = """{starts}
import sys

sys.path.insert(0, {root!r})
from {module} import {function}

sys.exit({function}())
"""


class BootstrapFailed(Exception):
    """The setup failed; the message contains the cause and the fix."""


def cache_folder() -> Path:
    """``$LLMD_GKE_CACHE``, otherwise ``llmd-gke`` in the user's cache folder."""
    if given := os.environ.get("LLMD_GKE_CACHE"):
        return Path(given).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "llmd-gke"


def requirements(name: str, ending: str = "txt") -> Path:
    """The pins of a set, or its source (``in``). Raises ``StopIteration`` if there is no such set."""
    return next(file for folder in REQUIREMENTS if (file := folder / f"{name}.{ending}").exists())


def check_python(version: tuple[int, int]) -> None:
    """Raises ``BootstrapFailed`` unless the pinned requirements support this Python."""
    if not OLDEST <= version <= NEWEST:
        current, allowed = ".".join(map(str, version)), f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
        raise BootstrapFailed(
            f"Python {current} ({sys.executable}) is not supported. Allowed: Python {allowed}.\n"
            "Fix: install one and put it first on PATH as `python3`, then run the command again."
        )


def wanted(name: str, installed: str) -> str:
    """The set to install: ``name``, or the ``installed`` one if that is larger."""
    return max(name, installed, key=SETS.index) if installed in SETS else name


def stamp_of(name: str) -> str:
    """The stamp of an environment with that set: a hash of its requirements and of those that it includes."""
    pins = hashlib.sha256()
    for one in SETS[: SETS.index(name) + 1]:
        pins.update(requirements(one).read_bytes())
    return f"{name} {pins.hexdigest()} {PYTHON}"


def run(command: list[str], doing: str, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Runs a step quietly, and calls ``meanwhile`` every ten seconds; its output appears only when it fails."""
    with tempfile.TemporaryFile("w+") as file, subprocess.Popen(command, stdout=file, stderr=file, text=True) as step:
        while step.returncode is None:
            try:
                step.wait(PROGRESS_SECONDS)
            except subprocess.TimeoutExpired:
                meanwhile()
        if step.returncode:
            file.seek(0)
            output = file.read()
            raise BootstrapFailed(f"{output.strip()}\n\nCould not {doing} (status {step.returncode}). {advice(output)}")


def advice(output: str) -> str:
    """The fix for an error of pip or uv."""
    if "No space left" in output:
        return "The disk is full. Fix: free some space, then run the command again."
    if "hash" in output.lower() and "mismatch" in output.lower():
        return (
            "A downloaded file does not match the pinned hash, so it was not installed.\n"
            "Fix: check the package index you use, or run `make requirements` and review the change."
        )
    if "no wheels with a matching" in output:
        return "Fix: use a machine and a Python that the message lists, then run the command again."
    if "ensurepip" in output:
        return (
            "Fix: install Python's venv module (Debian, Ubuntu: apt install python3-venv), then run the command again."
        )
    return (
        "Fix: check that the package index can be reached, then run the command again; it continues where it stopped."
    )


def make_venv(folder: Path, *options: str) -> None:
    """Creates an empty virtual environment of the running Python in ``folder``, replacing what is there."""
    run([sys.executable, "-m", "venv", "--clear", *options, str(folder)], f"create the virtual environment {folder}")


def uv() -> Path:
    """The pinned uv, from an environment of its own in the cache folder; installed there if missing."""
    folder = beside_folder("uv")
    if not is_beside("uv"):
        make_venv(folder)
        install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*install, "--require-hashes", "-r", str(requirements("uv"))], "install uv")
        (folder / "complete").touch()
    return folder / "bin" / "uv"


def beside_folder(name: str) -> Path:
    """The folder of the environment of a set of ``BESIDE``, or of uv, whether it is installed or not."""
    key = hashlib.sha256(requirements(name).read_bytes()).hexdigest()[:12]
    return cache_folder() / f"{name}-{key}-py{PYTHON}"


def is_beside(name: str) -> bool:
    """Whether a set of ``BESIDE``, or uv, is installed."""
    folder = beside_folder(name)
    return (folder / "complete").exists() and (folder / "bin" / "python").exists()


def beside(name: str, say: Callable[[str], None] = print) -> Path:
    """The Python of a set of ``BESIDE``, installed in the cache folder if missing.

    Raises ``BootstrapFailed``. Clones with the same pins share it; an interrupted installation is repeated.
    """
    check_python(sys.version_info[:2])
    pins, folder = requirements(name), beside_folder(name)
    python = folder / "bin" / "python"
    if not is_beside(name):
        with only_one(name):
            if not is_beside(name):
                say(f"installing {pins.name} into {folder}, once")
                tool = uv()
                make_venv(folder, "--without-pip")
                command = [str(tool), "pip", "sync", "--require-hashes", "--python", str(python), str(pins)]
                unused = pins.with_suffix(".unused")
                # The cache of uv would keep what is removed; this one is kept only after an interruption.
                downloads = folder.with_name(f"{name}.downloads")
                large = unused.exists()
                free = shutil.disk_usage(folder).free
                try:
                    run(
                        [*command, *(["--cache-dir", str(downloads)] if large else ["--compile-bytecode"])],
                        f"install {pins}",
                        lambda: say(f"{max(0, free - shutil.disk_usage(folder).free) // 1_000_000} MB"),
                    )
                    if large:
                        remove_unused(folder, unused.read_text(encoding="utf-8").splitlines())
                        shutil.rmtree(downloads, ignore_errors=True)
                except BaseException:
                    shutil.rmtree(folder, ignore_errors=True)
                    raise
                (folder / "complete").touch()
    return python


def remove(name: str) -> None:
    """Removes a set of ``BESIDE`` from the cache, of all pins and Pythons, and what was made with it."""
    with only_one(name):
        for folder in cache_folder().glob(f"{name}[-.]*"):
            if folder.is_dir():
                print(f"removing {folder}", flush=True)
                shutil.rmtree(folder)


def remove_unused(folder: Path, patterns: Iterable[str]) -> None:
    """Removes what an environment does without: files and folders of its packages that match, by lines of a file."""
    for packages in folder.glob("lib/python3.*/site-packages"):
        for file in (one for line in patterns if line and line[0] != "#" for one in packages.glob(line)):
            shutil.rmtree(file) if file.is_dir() else file.unlink()


@contextlib.contextmanager
def only_one(what: str = "") -> Generator[None]:
    """Locks the setup of ``what`` (default: this clone's ``.venv``); waits for another command that holds the lock."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    name = what or f"venv-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]}"
    with (folder / f"{name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"Another command is setting up {what or '.venv'}; waiting for it.", file=sys.stderr, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def install(name: str) -> None:
    """Installs exactly the packages of a set into ``.venv``."""
    check_python(sys.version_info[:2])
    stamp = VENV / "llmd-gke.stamp"
    read = stamp.read_text() if stamp.exists() else ""
    name = wanted(name, read.partition(" ")[0])
    if read == stamp_of(name) and (VENV / "bin" / "python").exists():
        write_scripts(VENV)
        return
    with only_one():
        if stamp.exists() and stamp.read_text() == stamp_of(name):
            return
        started = time.monotonic()
        print(f"Python environment: installing the set {name} into .venv (about a minute) ...", flush=True)
        tool = uv()
        same_python = read.endswith(f" {PYTHON}")
        if not (same_python and (VENV / "bin" / "python").exists()):
            make_venv(VENV, "--without-pip")
        stamp.unlink(missing_ok=True)
        target = ["--python", str(VENV / "bin" / "python")]
        command = [str(tool), "pip", "sync", "--require-hashes", "--compile-bytecode", *target]
        run([*command, str(requirements(name))], "install the Python packages")
        write_scripts(VENV)
        stamp.write_text(stamp_of(name))
        print(f"Python environment: ready in {time.monotonic() - started:.0f} s.", flush=True)


def starts(python: Path) -> str:
    """The first lines of a script for that Python.

    The kernel cuts ``#!`` at a space and after 127 characters; in that case ``/bin/sh`` starts Python, to which these
    lines are an unused string.
    """
    if not any(letter.isspace() for letter in str(python)) and len(str(python)) <= 120:
        return f"#!{python}"
    return f"#!/bin/sh\n'''exec' {shlex.quote(str(python))} \"$0\" \"$@\"\n' '''"


def write_path(folder: Path) -> None:
    """Writes the path file of this clone's packages, like an editable installation; the policy pack needs it."""
    for packages in folder.glob("lib/python3.*/site-packages"):
        file = packages / "llmd-gke.pth"
        if not file.exists() or file.read_text(encoding="utf-8") != f"{ROOT}\n":
            file.write_text(f"{ROOT}\n", encoding="utf-8")


def write_scripts(folder: Path) -> None:
    """Writes the commands of ``[project.scripts]``, like an editable installation, without building anything."""
    write_path(folder)
    import tomllib  # an older Python must reach the message that it is too old

    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8")).get("project", {}).get("scripts", {})
    for name, entry in scripts.items():
        module, function = entry.split(":")
        text = SCRIPT.format(starts=starts(folder / "bin" / "python"), root=str(ROOT), module=module, function=function)
        file = folder / "bin" / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            file.chmod(0o755)


def disk_problem(error: OSError) -> str:
    """Error and fix of what the disk refuses; empty for other errors."""
    chosen = "set LLMD_GKE_CACHE or LLMD_GKE_HOME to"
    if isinstance(error, FileExistsError | NotADirectoryError):
        fix = f"that has to be a folder: move the file away, or {chosen} another folder"
    elif error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        fix = f"give yourself the permission, or {chosen} a folder of your own"
    elif error.errno in (errno.ENOSPC, errno.EDQUOT):
        fix = f"free some space, or {chosen} a folder on a larger disk"
    elif error.filename and str(error.filename) in map(os.environ.get, ("LLMD_GKE_CACHE", "LLMD_GKE_HOME")):
        fix = f"{chosen} a folder that can be created"
    else:
        return ""
    return f"{error}\nFix: {fix}; then run the command again."


def exit_status(task: Callable[[], object]) -> int:
    """Runs a task; returns 0, 1 for an explained failure, 130 after Ctrl-C."""
    try:
        task()
    except BootstrapFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    except OSError as error:
        print(disk_problem(error) or f"{error}\nFix: check the disk, then run the command again.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The next run continues from here.", file=sys.stderr)
        return 130
    return 0


def main(arguments: list[str]) -> int:
    """Returns :func:`exit_status`, or 2 for wrong usage."""
    *options, name = arguments or [""]
    if arguments == ["--scripts"]:
        return exit_status(lambda: write_scripts(VENV))
    if options == ["--beside"] and name in BESIDE:
        return exit_status(lambda: beside(name))
    if options == ["--remove"] and name in BESIDE:
        return exit_status(lambda: remove(name))
    if not options and name in SETS:
        return exit_status(lambda: install(name))
    print(
        f"usage: {Path(sys.argv[0]).name} {'|'.join(SETS)}|--scripts\n       ... --beside|--remove {'|'.join(BESIDE)}",
        file=sys.stderr,
    )
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
