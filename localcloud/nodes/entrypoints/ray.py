#!/opt/bin/python3
"""``ray`` in the laptop cloud, as program and as module: hosts find each other and are counted, nothing is computed.

As far as ``llmd_gke/manifests/host_group.py`` uses it: ``ray start --head --port=N`` returns once the head listens,
``ray start --address=HOST:N --block`` ends when the head is gone, ``ray.init()`` and ``ray.nodes()`` ask this host's
head (https://docs.ray.io/en/latest/cluster/cli.html, https://docs.ray.io/en/latest/ray-core/api/doc/ray.nodes.html).
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from pathlib import Path

JOIN, COUNT = b"j", b"c"
HEAD = Path("/tmp/ray-head.json")  # noqa: S108 - inside a container of its own


class Head:
    """Counts the hosts that hold a connection, and itself."""

    def __init__(self, port: int) -> None:
        self._server = socket.create_server(("", port), backlog=64)
        self._hosts = 1
        self._lock = threading.Lock()

    def run(self) -> None:
        """Accepts connections until the process ends."""
        while True:
            client, (host, *_) = self._server.accept()
            threading.Thread(target=self._serve, args=(client, host), daemon=True).start()

    def _serve(self, client: socket.socket, host: str) -> None:
        with client:
            try:
                wish = client.recv(1)
                if wish == COUNT:
                    client.sendall(str(self._hosts).encode())
                elif wish == JOIN:
                    self._change(1, f"{host} joins")
                    try:
                        client.recv(1)
                    finally:
                        self._change(-1, f"{host} has left")
            except OSError:
                pass

    def _change(self, by: int, what: str) -> None:
        with self._lock:
            self._hosts += by
            print(f"laptop cloud: ray: {what}, {self._hosts} hosts", flush=True)


def start_head(port: int) -> None:
    """Starts the head in a process of its own; returns when it listens."""
    head = Head(port)
    HEAD.write_text(json.dumps({"port": port}), encoding="utf-8")
    if os.fork() == 0:
        os.setsid()
        head.run()


def join(address: str) -> None:
    """Holds a connection to the head; returns when that ends."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as head:
        head.settimeout(None)
        head.sendall(JOIN)
        print(f"laptop cloud: ray: joined {address}", flush=True)
        head.recv(1)


def init(**_options: object) -> None:
    """Raises ``ConnectionError`` if no head runs on this host, as Ray does with ``address="auto"``."""
    if not HEAD.exists():
        raise ConnectionError("no Ray on this host")


def nodes() -> list[dict[str, bool]]:
    """The hosts that have joined."""
    port = int(json.loads(HEAD.read_text(encoding="utf-8"))["port"])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as head:
        head.sendall(COUNT)
        return [{"Alive": True}] * int(head.recv(16))


def main(arguments: list[str]) -> None:
    """``ray start``; everything else is not imitated."""
    options: dict[str, str] = {}
    for one in arguments[1:]:
        name, _, options[name] = one.removeprefix("--").partition("=")
    if arguments[:1] != ["start"]:
        sys.exit(f"laptop cloud: only `ray start` is imitated, not `ray {' '.join(arguments)}`")
    if "head" in options:
        start_head(int(options.get("port") or 6379))
    elif "address" in options and "block" in options:
        join(options["address"])
        sys.exit("laptop cloud: ray: the head has exited")
    else:
        sys.exit("laptop cloud: ray start needs --head, or --address with --block")


if __name__ == "__main__":
    main(sys.argv[1:])
