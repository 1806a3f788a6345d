"""The official installer, through the SDK's own ``PulumiCommand.install``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx

from llmd_gke.catalog.versions import engine_cli
from localcloud.pulumi_cli.discover import Engine, judge

INSTALLER = "https://get.pulumi.com/install.sh"
"""What ``pulumi.automation.PulumiCommand.install`` downloads and runs (pulumi 3.272, ``automation/_cmd.py``)."""

OFF = "LLMD_GKE_NO_INSTALLER"
"""Set to 1 to build the engine even where the installer can be reached."""

ANSWER_S = 4.0
INSTALL_S = 300.0

_INSTALL = """
import sys
from semver import VersionInfo
from pulumi.automation import PulumiCommand
PulumiCommand.install(root=sys.argv[1], version=VersionInfo.parse(sys.argv[2]))
"""


def folder(cache: Path) -> Path:
    """Where the officially installed engine lies in the cache."""
    return cache / f"official-v{engine_cli()}"


def present(cache: Path) -> Engine | None:
    """The engine that an earlier run installed."""
    verdict = judge(folder(cache) / "bin" / "pulumi")
    return Engine(verdict.pulumi, verdict.version, "official installer") if isinstance(verdict, Engine) else None


def reachable() -> bool:
    """Whether the installer's host answers soon; silence must not hold anyone up."""
    if os.environ.get(OFF) == "1":
        return False
    try:
        answer = httpx.head(INSTALLER, timeout=ANSWER_S, follow_redirects=True)
    except (httpx.HTTPError, OSError):
        return False
    return answer.is_success


def install(cache: Path) -> Engine | None:
    """Installs the pinned version into the cache; ``None`` when that did not work, which leaves nothing behind."""
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="official-", dir=cache) as work:
        command = [sys.executable, "-c", _INSTALL, f"{work}/engine", engine_cli()]
        try:
            done = subprocess.run(command, capture_output=True, timeout=INSTALL_S, check=False)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode or not isinstance(judge(Path(work, "engine", "bin", "pulumi")), Engine):
            return None
        shutil.rmtree(folder(cache), ignore_errors=True)
        Path(work, "engine").rename(folder(cache))
    return present(cache)
