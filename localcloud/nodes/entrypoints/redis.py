#!/opt/bin/python3
"""``redis-server`` of the official image in the laptop cloud: a plain server, set as that image is built.

The image turns off protected mode, which refuses every client but those on loopback (redis/docker-library-redis
``Dockerfile.template``): what keeps others away is the container's network.
"""

from __future__ import annotations

import os
import sys

SERVER = "/opt/lib/redis-server"
PROTECTED_MODE = "--protected-mode"


def arguments(given: list[str]) -> list[str]:
    """The server's arguments: as given, without protected mode unless they say otherwise."""
    return given if PROTECTED_MODE in given else [*given, PROTECTED_MODE, "no"]


if __name__ == "__main__":
    os.execv(SERVER, [SERVER, *arguments(sys.argv[1:])])  # noqa: S606 - no shell
