"""The published Google provider with an emulator of its own: the engine starts it in place of the stand-in.

The emulator serves a port of loopback for as long as the plugin runs, and keeps everything in the cloud's folder, which
several of them may share. The plugin reaches nothing else (``isolation.py``, ``gomod/google-provider/emulator.go``).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from localcloud.google_api import isolation
from localcloud.google_api.server import running

ADDRESS = "LLMD_GKE_GOOGLE_API"
"""Environment variable with the emulator's address, for the plugin."""


def main(arguments: list[str]) -> int:
    """Runs a plugin and returns its exit status. ``arguments``: its path, and what the engine tells it."""
    path, *rest = arguments
    folder = Path(os.environ["LLMD_GKE_HOME"], "cloud")
    folder.mkdir(parents=True, exist_ok=True)
    with running(folder) as cloud:
        environment = {**isolation.environment(os.environ, cloud.url), ADDRESS: cloud.url}
        child = subprocess.Popen([path, *rest], env=environment)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda received, _: child.send_signal(received))
        return child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
