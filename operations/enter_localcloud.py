"""Enters a laptop cloud for commands that connect to it: its gateway and API server are reachable only inside its
namespaces.
"""

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
    """Whether this process was started by :func:`enter`, which already showed the progress line."""
    return ENTERED in os.environ


def starting(doing: str) -> Work:
    """Progress that is shown at once, before anything large is imported; after :func:`enter`, only if work is slow."""
    return working(doing, quiet_seconds=QUIET_SECONDS if entered() else 0)


def enter(target: Target, *, required: bool = True) -> None:
    """Replaces this process by the same command inside the laptop cloud of ``target``; does nothing for other clouds.

    Raises ``NotUp`` if the laptop cloud does not run and is ``required``; otherwise the command continues outside.
    """
    if target.cloud is not Cloud.LAPTOP:
        return
    from llmd_common.problems import Stale
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
    # Inside, the kubeconfig of the outputs uses the stub of Google's plugin, which is first on this PATH.
    environment = clean(os.environ, target.workdir) | {"PYTHONPATH": str(CLONE), ENTERED: "1"}
    sys.stdout.flush()
    os.execvpe(command[0], command, environment)  # noqa: S606 - no shell
