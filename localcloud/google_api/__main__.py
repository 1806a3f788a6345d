"""``python -m localcloud.google_api FOLDER [PORT]``: the emulator, until it is stopped. Prints its address."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path

from localcloud.google_api.server import running


def main(words: list[str]) -> int:
    """Serves until SIGTERM or Ctrl-C."""
    if not words or len(words) > 2 or (len(words) == 2 and not words[1].isdecimal()):
        print(__doc__, file=sys.stderr)
        return 2
    over = threading.Event()

    def stop(number: int, frame: object) -> None:
        del number, frame
        over.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    folder = Path(words[0])
    folder.mkdir(parents=True, exist_ok=True)
    with running(folder, int(words[1]) if len(words) == 2 else 0) as cloud:
        print(cloud.url, flush=True)
        over.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
