"""Commands that talk to a laptop cloud: its gateway and API server answer inside its namespaces only."""

from __future__ import annotations

import os
import sys

from llmd_gke.repository import CLONE
from operations.exits import NotUp
from operations.options import Cloud
from operations.progress import QUIET_SECONDS, Work, working
from operations.target import Target

ENTERED = "LLMD_GKE_ENTERED"


def entered() -> bool:
    """Whether this process is the second half of a command that entered: its first half has spoken already."""
    return ENTERED in os.environ


def starting(doing: str) -> Work:
    """Shows at once what a command does, before anything large is imported; its second half, inside, does not again."""
    return working(doing, quiet_seconds=QUIET_SECONDS if entered() else 0)


def enter(target: Target, *, required: bool = True) -> None:
    """Becomes the same command inside the laptop cloud that ``target`` lives in; does nothing elsewhere.

    Raises ``NotUp`` when the laptop cloud does not run and is ``required``; else the command goes on outside.
    """
    if target.cloud is not Cloud.LAPTOP:
        return
    from llmd_gke.problems import Stale
    from localcloud.common.environment import clean
    from localcloud.linux_namespaces import discover, inside

    home = target.workdir.home
    if discover.inside(home):
        return
    argv = [sys.executable, "-m", "operations", *sys.argv[1:]]
    try:
        command = inside.command(home, argv)
    except Stale as error:
        if not required:
            return
        raise NotUp(str(error)) from None
    # Inside, the kubeconfig of the outputs signs in by the stub of Google's plugin, which is first on this PATH.
    environment = clean(os.environ, target.workdir) | {"PYTHONPATH": str(CLONE), ENTERED: "1"}
    sys.stdout.flush()
    os.execvpe(command[0], command, environment)  # noqa: S606 - no shell
