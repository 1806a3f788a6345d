"""The Go toolchain: finds it, checks its version, and explains its errors."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from llmd_common import child_process
from llmd_common.problems import SetUpFailed
from localcloud.go_builds.wrapper import GOMOD, BuiltProgram

OLDEST, OLD_JSON = (1, 26), (1, 26)
"""The oldest Go that builds everything, and the newest with the ``encoding/json`` that older modules rely on."""
INSTALL = "install Go 1.26 (270 MB) from https://go.dev/dl/ and put it first on PATH"

_REFUSED = re.compile(
    r"(?P<module>[\w.~/-]+\.[\w.~/-]+)@(?P<version>v[\w.+-]+)(?:/go\.mod)?: "
    r"(?P<reason>(?:reading|verifying|invalid version|unrecognized import|Get ).*)"
)
_MISSING_SUM = re.compile(r"missing go\.sum entry for (?:module providing package \S+|go\.mod file).*")


@dataclass(frozen=True)
class Go:
    """A usable Go: its command, version (major, minor), the user's module folder and where modules come from."""

    command: str
    version: tuple[int, int]
    modules: Path
    proxy: str = ""


@dataclass(frozen=True)
class Purpose:
    """What Go is needed for, as text for messages: ``what`` is built, what the user can do ``instead`` of building it,
    and the ``size`` of a build where it is known.
    """

    what: str = "what is needed"
    instead: str = ""
    size: str = ""

    @classmethod
    def of(cls, programs: Iterable[BuiltProgram]) -> Purpose:
        """To build these programs; there is something to do instead only if there is for each of them."""
        listed = list(programs)
        instead = list(dict.fromkeys(program.instead for program in listed))
        sizes = "; ".join(f"{program.name}: {program.size}" for program in listed if program.size)
        return cls(", ".join(program.name for program in listed), " and ".join(instead) if all(instead) else "", sizes)

    def fix(self, first: str) -> str:
        """The text of a fix: ``first``, or the alternative to building."""
        return f"{first}, or {self.instead}" if self.instead else first


def parse(text: str) -> tuple[int, int] | None:
    """``go1.26.8`` as ``(1, 26)``; ``None`` for anything else."""
    match = re.match(r"go(\d+)\.(\d+)", text.strip())
    return (int(match[1]), int(match[2])) if match else None


def find(environ: Mapping[str, str], purpose: Purpose = Purpose()) -> Go:
    """The Go on PATH. Raises ``SetUpFailed`` if there is none, or if its version is not suitable."""
    install = f"{INSTALL} ({purpose.size})" if purpose.size else INSTALL
    fix = f"Fix: {purpose.fix(install)}; then run the command again."
    command = shutil.which("go", path=environ.get("PATH"))
    if command is None:
        raise SetUpFailed(f"Go is required to build {purpose.what}, but is not on PATH.\n{fix}")
    asked = child_process.run(
        [command, "env", "GOVERSION", "GOMODCACHE", "GOPROXY"], environment={**environ, "GOTOOLCHAIN": "local"}
    )
    lines = asked.stdout.splitlines()
    version = parse(lines[0]) if asked.returncode == 0 and len(lines) >= 2 else None
    if version is None:
        raise SetUpFailed(f"{command} does not work: {(asked.stderr or asked.stdout).strip()}\n{fix}")
    if version < OLDEST:
        raise SetUpFailed(
            f"Go {version[0]}.{version[1]} is too old to build {purpose.what}. Allowed: Go 1.26 and newer.\n{fix}"
        )
    return Go(command, version, Path(lines[1]), lines[2] if len(lines) > 2 else "")


def environment(environ: Mapping[str, str], go: Go, work: Path) -> dict[str, str]:
    """Settings of a build in the folder ``work``: pinned modules, this toolchain only, static.

    Modules and compiled packages are in ``work``. Modules are taken from the user's module cache, to which nothing is
    added, or else from the user's proxies.
    """
    result = {key: value for key, value in environ.items() if key not in {"GOFLAGS", "GOOS", "GOARCH"}}
    result |= {
        "CGO_ENABLED": "0",
        "GO111MODULE": "on",
        "GOCACHE": str(work / "gocache"),
        "GOFLAGS": "-mod=readonly -modcacherw",
        # Compilers live for seconds: collecting garbage less often saves a fifth of their time.
        "GOGC": environ.get("GOGC", "400"),
        "GOMODCACHE": str(work / "modules"),
        "GOPROXY": ",".join(filter(None, [f"file://{go.modules / 'cache' / 'download'}", go.proxy])),
        "GOTMPDIR": str(work / "tmp"),
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    if go.version > OLD_JSON:
        result["GOEXPERIMENT"] = "nojsonv2"
    return result


def explain(output: str, purpose: Purpose, folder: Path) -> SetUpFailed:
    """The error for Go's error output, with its cause and fix. ``folder``: what Go writes is in there."""
    tail = "\n".join(output.strip().splitlines()[-15:])
    again = "then run the command again; it continues where it stopped."
    if "no space left on device" in output:
        return SetUpFailed(
            f"The disk of {folder} ran full while building {purpose.what}.\n"
            f"Fix: free some GB, or set LLMD_GKE_CACHE to a folder on a larger disk, {again}"
        )
    if refused := _REFUSED.search(output):
        pinned, version = refused["module"], refused["version"]
        check_it = (
            f"check with `go mod download {pinned}@{version}` that GOPROXY and GOSUMDB allow it and that "
            "the network is available"
        )
        return SetUpFailed(
            f"The Go module {pinned} {version} could not be downloaded: {refused['reason'].strip()}\n"
            f"It is needed to build {purpose.what}.\n"
            f"Fix: {purpose.fix(check_it)}; then run the command again."
        )
    if _MISSING_SUM.search(output):
        return SetUpFailed(f"{tail}\n\ngo.sum does not match go.mod.\nFix: git restore {GOMOD}")
    if "signal: killed" in output:
        return SetUpFailed(
            f"A compiler was killed while building {purpose.what}, most likely because memory ran out.\n"
            f"Fix: {purpose.fix('close other programs')}, {again}"
        )
    return SetUpFailed(f"{tail}\n\nGo could not build {purpose.what}. Fix: {purpose.fix('correct the error above')}.")
