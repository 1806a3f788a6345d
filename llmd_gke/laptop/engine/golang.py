"""The Go toolchain: is it there, does it fit, and what did it say when it refused."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from llmd_gke.laptop.errors import SetUpFailed

OLDEST, TESTED, NEWEST = (1, 26), (1, 26), (1, 27)
ANY = "LLMD_GKE_ANY_GO"
"""Set to 1 to try a Go that is newer than the newest that is known to work."""

INSTEAD = "or install Pulumi itself: https://www.pulumi.com/docs/install/"

_REFUSED = re.compile(
    r"(?P<module>[\w.~/-]+\.[\w.~/-]+)@(?P<version>v[\w.+-]+)(?:/go\.mod)?: "
    r"(?P<reason>(?:reading|verifying|invalid version|unrecognized import|Get ).*)"
)
_MISSING_SUM = re.compile(r"missing go\.sum entry for (?:module providing package \S+|go\.mod file).*")


@dataclass(frozen=True)
class Go:
    """A usable Go: its command, version (major, minor) and module folder."""

    command: str
    version: tuple[int, int]
    modules: Path


def parse(text: str) -> tuple[int, int] | None:
    """``go1.26.8`` as ``(1, 26)``; ``None`` for anything else."""
    match = re.match(r"go(\d+)\.(\d+)", text.strip())
    return (int(match[1]), int(match[2])) if match else None


def name(version: tuple[int, int]) -> str:
    """``(1, 26)`` as ``1.26``."""
    return f"{version[0]}.{version[1]}"


def check(version: tuple[int, int], *, anyway: bool = False) -> None:
    """Raises ``SetUpFailed`` for a Go that the engine cannot be built with."""
    if version < OLDEST:
        problem = f"Go {name(version)} is too old to build the engine"
    elif version > NEWEST and not anyway:
        problem = f"Go {name(version)} is newer than any the engine was built with here"
    else:
        return
    raise SetUpFailed(
        f"{problem}. Allowed: Go {name(OLDEST)} to {name(NEWEST)}.\n"
        f"Fix: install Go {name(TESTED)} from https://go.dev/dl/ and put it first on PATH ({ANY}=1 tries a newer one), "
        f"{INSTEAD}; then run the command again."
    )


def find(environ: Mapping[str, str]) -> Go:
    """The Go on PATH. Raises ``SetUpFailed`` when there is none or it does not fit."""
    command = shutil.which("go", path=environ.get("PATH"))
    if command is None:
        raise SetUpFailed(
            "The engine has to be built, and there is no Go on PATH.\n"
            f"Fix: install Go {name(TESTED)} from https://go.dev/dl/, {INSTEAD}; then run the command again."
        )
    asked = subprocess.run(
        [command, "env", "GOVERSION", "GOMODCACHE"],
        env={**environ, "GOTOOLCHAIN": "local"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = asked.stdout.splitlines()
    version = parse(lines[0]) if asked.returncode == 0 and len(lines) == 2 else None
    if version is None:
        raise SetUpFailed(
            f"{command} does not work: {(asked.stderr or asked.stdout).strip()}\nFix: install Go {name(TESTED)} anew."
        )
    check(version, anyway=environ.get(ANY) == "1")
    return Go(command, version, Path(lines[1]))


def environment(environ: Mapping[str, str], version: tuple[int, int], work: Path) -> dict[str, str]:
    """Settings of a build: pinned modules only, this toolchain only, static, with a build cache of its own."""
    result = {key: value for key, value in environ.items() if key not in {"GOFLAGS", "GOOS", "GOARCH"}}
    result |= {
        "CGO_ENABLED": "0",
        "GO111MODULE": "on",
        "GOCACHE": str(work / "gocache"),
        "GOFLAGS": "-mod=readonly",
        "GOTMPDIR": str(work / "tmp"),
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    if version > TESTED:
        result["GOEXPERIMENT"] = "nojsonv2"  # the new encoding/json of 1.27 changes what older modules rely on
    return result


def explain(output: str) -> SetUpFailed:
    """What Go's error output means, and the fix."""
    tail = "\n".join(output.strip().splitlines()[-15:])
    if "no space left on device" in output:
        return SetUpFailed(
            "The disk became full while the engine was built.\n"
            "Fix: free about 4 GB, or point LLMD_GKE_CACHE (and GOMODCACHE) to a larger disk, then run the command "
            "again; it goes on where it stopped."
        )
    if refused := _REFUSED.search(output):
        module, version = refused["module"], refused["version"]
        return SetUpFailed(
            f"The Go module {module} {version} could not be had: {refused['reason'].strip()}\n"
            f"Fix: check with `go mod download {module}@{version}` whether GOPROXY and GOSUMDB let it through and the "
            f"network is there, {INSTEAD}; then run the command again."
        )
    if _MISSING_SUM.search(output):
        return SetUpFailed(
            f"{tail}\n\ngo.sum does not fit go.mod in llmd_gke/laptop/gomod/engine.\nFix: git restore that folder."
        )
    if "signal: killed" in output:
        return SetUpFailed(
            "A compiler was killed, most likely because memory ran out.\n"
            "Fix: end other programs, then run the command again; it goes on where it stopped."
        )
    return SetUpFailed(f"{tail}\n\nGo could not build the engine. Fix: what it says above, {INSTEAD}.")
