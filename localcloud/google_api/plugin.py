"""The published Google provider with an emulator of its own: the engine starts it as its plugin.

The emulator serves a port of loopback for as long as the plugin runs, and keeps everything in the cloud's folder, which
several of them may share. The plugin reaches nothing else (``gomod/google-provider/emulator.go``).
"""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from llmd_common.problems import Problem
from localcloud import binaries
from localcloud.google_api import official

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
    """Runs the plugin and returns its exit status. It ends with a signal, and with the engine that holds its input."""
    folder = Path(os.environ["LLMD_GKE_HOME"], "cloud")
    folder.mkdir(parents=True, exist_ok=True)
    listener = socket.create_server(("127.0.0.1", 0))
    try:
        path, environment = program(os.environ, Path.home(), f"http://127.0.0.1:{listener.getsockname()[1]}")
    except Problem as problem:
        print(problem, file=sys.stderr)
        return problem.status
    child = subprocess.Popen([path, *arguments], env=environment, stdin=subprocess.DEVNULL)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: child.send_signal(received))
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        threading.Thread(target=_end_with_standard_input, args=[child], daemon=True).start()
    # Only now: the plugin starts meanwhile, and its requests wait at the listener.
    from localcloud.google_api.server import running

    with running(folder, listener) as cloud:
        status = child.wait()
        # A request whose client is gone is still answered, and what it makes is kept. The engine waits for its plugins
        # (`protocol/serve.py`), so that nothing else is waited for.
        with cloud.lock:
            os._exit(status if status >= 0 else 128 - status)


def _end_with_standard_input(child: subprocess.Popen[bytes]) -> None:
    sys.stdin.buffer.read()
    child.terminate()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
