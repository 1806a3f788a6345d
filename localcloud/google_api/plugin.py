"""The published Google provider with an emulator of its own: the engine starts it as its plugin.

The emulator serves a port of loopback for as long as the plugin runs, and keeps everything in the cloud's folder, which
several of them may share. The plugin reaches nothing else (``isolation.py``, ``gomod/google-provider/emulator.go``).
"""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

from localcloud.google_api import isolation

ADDRESS = "LLMD_GKE_GOOGLE_API"
"""Environment variable with the emulator's address, for the plugin."""


def main(arguments: list[str]) -> int:
    """Runs a plugin and returns its exit status. ``arguments``: its path, and what the engine tells it.

    It ends with a signal, and with the engine that holds its input.
    """
    path, *rest = arguments
    folder = Path(os.environ["LLMD_GKE_HOME"], "cloud")
    folder.mkdir(parents=True, exist_ok=True)
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    environment = {**isolation.environment(os.environ, url), ADDRESS: url}
    child = subprocess.Popen([path, *rest], env=environment, stdin=subprocess.DEVNULL)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: child.send_signal(received))
    if stat.S_ISFIFO(os.fstat(0).st_mode):
        threading.Thread(target=_end_with_standard_input, args=[child], daemon=True).start()
    from localcloud.google_api.server import running  # while the plugin starts

    with running(folder, listener) as cloud:
        status = child.wait()
        # A request whose client is gone is still answered, and what it makes is kept. The engine waits for its plugins
        # (`providers/kubernetes/serve.py`), so that nothing else is waited for.
        with cloud.lock:
            os._exit(status if status >= 0 else 128 - status)


def _end_with_standard_input(child: subprocess.Popen[bytes]) -> None:
    sys.stdin.buffer.read()
    child.terminate()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
