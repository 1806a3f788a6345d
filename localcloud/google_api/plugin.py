"""The published Google provider with an emulator of its own: the engine starts it in place of the stand-in.

The emulator serves a port of loopback for as long as the plugin runs, and keeps everything in the cloud's folder, which
several of them may share. The plugin reaches nothing else (``gomod/google-provider/emulator.go``).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from llmd_common.problems import Problem
from localcloud import binaries
from localcloud.google_api import official
from localcloud.google_api.server import running

ADDRESS = "LLMD_GKE_GOOGLE_API"
"""Environment variable with the emulator's address, for the plugin."""


def program(environ: Mapping[str, str], home: Path, url: str) -> tuple[Path, dict[str, str]]:
    """The path of the plugin, and its environment: the plugin that was built here, unless the official one is selected.

    Raises ``SetUpFailed`` if it is missing.
    """
    if official.wanted(environ):
        return official.path(home), official.environment(environ, url)
    return binaries.path("pulumi-resource-gcp"), {**environ, ADDRESS: url}


def main(arguments: list[str]) -> int:
    """Runs the plugin and returns its exit status."""
    folder = Path(os.environ["LLMD_GKE_HOME"], "cloud")
    folder.mkdir(parents=True, exist_ok=True)
    with running(folder) as cloud:
        try:
            path, environment = program(os.environ, Path.home(), cloud.url)
        except Problem as problem:
            print(problem, file=sys.stderr)
            return problem.status
        child = subprocess.Popen([path, *arguments], env=environment)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda received, _: child.send_signal(received))
        return child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
