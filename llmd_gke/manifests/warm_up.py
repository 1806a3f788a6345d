"""Runs beside the server and marks the pod as warm once the server has answered a first completion.

``python3 -c TEXT PORT MODEL FILE``: only the standard library, so that any image with Python can run it. The file is
the mark: it exists from the first completion on, and goes when the server is gone (a restarted one compiles again).
"""

from __future__ import annotations

import http.client
import json
import pathlib
import signal
import sys
import time

PAUSE_SECONDS = 2


def ask(port: int, method: str, path: str, body: str | None = None, seconds: float = 5) -> int | str:
    """The status of an answer, or the kind of failure."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"})
        return connection.getresponse().status
    except ConnectionRefusedError:
        return "refused"
    except (OSError, http.client.HTTPException) as error:
        return type(error).__name__
    finally:
        connection.close()


def end(signal_number: int, frame: object) -> None:
    """Ends the process."""
    del signal_number, frame
    sys.exit(0)


def main(port: int, model: str, mark: pathlib.Path) -> None:
    """Never returns; ends with SIGTERM."""
    # As the first process of a container it would ignore the signal.
    signal.signal(signal.SIGTERM, end)
    request = json.dumps({"model": model, "prompt": "1", "max_tokens": 1})
    last: int | str | None = None
    mark.unlink(missing_ok=True)
    while True:
        if mark.exists():
            # A busy server may be slow to answer: only a closed port says that it is gone.
            if ask(port, "GET", "/health") == "refused":
                mark.unlink()
        else:
            answer = ask(port, "POST", "/v1/completions", request, seconds=600)
            if answer == 200:
                mark.touch()
            if answer != last:
                print(f"first completion: {answer}", flush=True)
            last = answer
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]))
