"""The Go toolchain: finds it, checks its version, and explains its errors."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from llmd_common import child_process
from llmd_common.problems import SetUpFailed

OLDEST, TESTED, NEWEST = (1, 26), (1, 26), (1, 27)
ANY = "LLMD_GKE_ANY_GO"
"""Set to 1 to try a Go that is newer than the newest that is known to work."""

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
    """What Go is needed for, as text for messages: ``what`` is built, and what the user can do ``instead`` of building
    it.
    """

    what: str = "what is needed"
    instead: str = ""

    def fix(self, first: str) -> str:
        """The text of a fix: ``first``, or the alternative to building."""
        return f"{first}, or {self.instead}" if self.instead else first


def parse(text: str) -> tuple[int, int] | None:
    """``go1.26.8`` as ``(1, 26)``; ``None`` for anything else."""
    match = re.match(r"go(\d+)\.(\d+)", text.strip())
    return (int(match[1]), int(match[2])) if match else None


def name(version: tuple[int, int]) -> str:
    """``(1, 26)`` as ``1.26``."""
    return f"{version[0]}.{version[1]}"


def check(version: tuple[int, int], purpose: Purpose = Purpose(), *, anyway: bool = False) -> None:
    """Raises ``SetUpFailed`` for a Go with which the programs cannot be built."""
    if version < OLDEST:
        problem = f"Go {name(version)} is too old to build {purpose.what}"
    elif version > NEWEST and not anyway:
        problem = f"Go {name(version)} is newer than any version tested for building {purpose.what}"
    else:
        return
    install = f"install Go {name(TESTED)} from https://go.dev/dl/ and put it first on PATH ({ANY}=1 tries a newer one)"
    raise SetUpFailed(
        f"{problem}. Allowed: Go {name(OLDEST)} to {name(NEWEST)}.\n"
        f"Fix: {purpose.fix(install)}; then run the command again."
    )


def find(environ: Mapping[str, str], purpose: Purpose = Purpose()) -> Go:
    """The Go on PATH. Raises ``SetUpFailed`` if there is none, or if its version is not suitable."""
    command = shutil.which("go", path=environ.get("PATH"))
    install = f"install Go {name(TESTED)} from https://go.dev/dl/"
    if command is None:
        raise SetUpFailed(
            f"Go is required to build {purpose.what}, but is not on PATH.\n"
            f"Fix: {purpose.fix(install)}; then run the command again."
        )
    asked = child_process.run(
        [command, "env", "GOVERSION", "GOMODCACHE", "GOPROXY"], environment={**environ, "GOTOOLCHAIN": "local"}
    )
    lines = asked.stdout.splitlines()
    version = parse(lines[0]) if asked.returncode == 0 and len(lines) >= 2 else None
    if version is None:
        raise SetUpFailed(
            f"{command} does not work: {(asked.stderr or asked.stdout).strip()}\nFix: install Go {name(TESTED)} again."
        )
    check(version, purpose, anyway=environ.get(ANY) == "1")
    return Go(command, version, Path(lines[1]), lines[2] if len(lines) > 2 else "")


def environment(environ: Mapping[str, str], version: tuple[int, int], work: Path) -> dict[str, str]:
    """Settings of a build: pinned modules only, this toolchain only, static, with a build cache of its own."""
    result = {key: value for key, value in environ.items() if key not in {"GOFLAGS", "GOOS", "GOARCH"}}
    result |= {
        "CGO_ENABLED": "0",
        "GO111MODULE": "on",
        "GOCACHE": str(work / "gocache"),
        "GOFLAGS": "-mod=readonly -modcacherw",
        "GOTMPDIR": str(work / "tmp"),
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    if version > TESTED:
        result["GOEXPERIMENT"] = "nojsonv2"  # older modules rely on the former encoding/json
    return result


def own_modules(environment: Mapping[str, str], go: Go, folder: Path) -> dict[str, str]:
    """The environment with a separate module cache, filled from the user's, or else from the user's proxies."""
    kept = f"file://{go.modules / 'cache' / 'download'}"
    return {**environment, "GOMODCACHE": str(folder), "GOPROXY": ",".join(filter(None, [kept, go.proxy]))}


def offline(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment with downloads disabled."""
    return {**environment, "GOPROXY": "off"}


def explain(output: str, purpose: Purpose, module: Path) -> SetUpFailed:
    """The error for Go's error output, with its cause and fix. ``module``: the wrapper module that was built."""
    tail = "\n".join(output.strip().splitlines()[-15:])
    if "no space left on device" in output:
        return SetUpFailed(
            f"The disk ran full while {purpose.what} was being built.\n"
            "Fix: free some GB, or set LLMD_GKE_CACHE to a folder on a larger disk, then run the command again; it "
            "continues where it stopped."
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
        return SetUpFailed(f"{tail}\n\ngo.sum does not match go.mod in {module}.\nFix: git restore {module}")
    if "signal: killed" in output:
        return SetUpFailed(
            f"A compiler was killed while {purpose.what} was being built, most likely because memory ran out.\n"
            "Fix: close other programs, then run the command again; it continues where it stopped."
        )
    return SetUpFailed(f"{tail}\n\nGo could not build {purpose.what}. Fix: {purpose.fix('correct the error above')}.")
