"""The published Google provider with an emulator of its own: what the engine starts in place of the stand-in.

The emulator serves a port of loopback for as long as the plugin runs, and keeps everything in the cloud's folder, which
several of them may share. The plugin reaches nothing else (``gomod/google-provider/emulator.go``).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from localcloud import binaries
from localcloud.google_api import official
from localcloud.google_api.server import running

ADDRESS = "LLMD_GKE_GOOGLE_API"
"""The variable by which the plugin is told where the emulator is."""


OFFICIAL = "--official"
"""Before the plugin's own arguments, with the path of the official plugin: it runs in place of the one built here."""


def main(words: list[str]) -> int:
    """Runs the plugin; its status is ours."""
    theirs, words = (words[1], words[2:]) if words[:1] == [OFFICIAL] else ("", words)
    folder = Path(os.environ["LLMD_GKE_CLOUD_FOLDER"])
    folder.mkdir(parents=True, exist_ok=True)
    with running(folder) as cloud:
        ours = {**os.environ, ADDRESS: cloud.url}
        environment = official.environment(os.environ, cloud.url) if theirs else ours
        child = subprocess.Popen([theirs or binaries.path("pulumi-resource-gcp"), *words], env=environment)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda received, _: child.send_signal(received))
        return child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
