"""``python -m localcloud.google_api FOLDER [PORT]``: the emulator, until it is stopped. Prints its address."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from pathlib import Path

from localcloud.google_api.server import running


def main(arguments: list[str]) -> int:
    """Serves until SIGTERM or Ctrl-C."""
    if not arguments or len(arguments) > 2 or (len(arguments) == 2 and not arguments[1].isdecimal()):
        print(__doc__, file=sys.stderr)
        return 2
    over = threading.Event()

    def stop(number: int, frame: object) -> None:
        del number, frame
        over.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    port = int(arguments[1]) if len(arguments) == 2 else 0
    with running(folder, socket.create_server(("127.0.0.1", port))) as cloud:
        print(cloud.url, flush=True)
        over.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
