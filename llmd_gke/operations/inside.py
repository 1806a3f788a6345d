"""Commands that talk to a laptop cloud: its gateway and API server answer inside its namespaces only."""

from __future__ import annotations

import os
import sys

from llmd_gke.operations.exits import NotUp
from llmd_gke.operations.options import Cloud
from llmd_gke.operations.target import Target


def enter(target: Target) -> None:
    """Becomes the same command inside the laptop cloud that ``target`` lives in; does nothing elsewhere.

    Raises ``NotUp`` when the laptop cloud does not run.
    """
    if target.cloud is not Cloud.LAPTOP:
        return
    from llmd_gke.laptop.errors import Stale
    from llmd_gke.laptop.spaces import find, inside

    home = target.places.home
    if find.inside(home):
        return
    words = [sys.executable, "-m", "llmd_gke.operations", *sys.argv[1:]]
    try:
        command = inside.command(home, words)
    except Stale as error:
        raise NotUp(str(error)) from None
    sys.stdout.flush()
    os.execvp(command[0], command)  # noqa: S606 - no shell
