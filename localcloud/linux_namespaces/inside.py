"""Runs a command in the namespaces of a laptop cloud entering them unless the caller is inside already.

``python -m localcloud.linux_namespaces.inside COMMAND...``, with ``$LLMD_GKE_HOME``; the scripts in its ``bin`` use it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from llmd_common.problems import Problem, Refused, Stale
from localcloud.common.environment import is_proxy
from localcloud.linux_namespaces import discover, enter, routes


def command(home: Path, arguments: Sequence[str]) -> list[str]:
    """The command line for :func:`os.execvp`.

    Raises ``Stale`` if the laptop cloud does not run, ``Refused`` if a process in it could reach another machine.
    """
    present = None if discover.inside(home) else discover.running(home)
    if present is None and not discover.inside(home):
        raise Stale(f"The laptop cloud of {home} is not running.\nFix: make up CLOUD=laptop")
    if ways := routes.ways_out(present.init.pid if present else "self"):
        raise Refused(
            "The laptop cloud must not reach Google Cloud, so it does not start: its network has a route to the "
            f"outside ({', '.join(ways)}).\nFix: make down CLOUD=laptop, which stops it."
        )
    return enter.command(present.init.pid, arguments) if present else list(arguments)


def main(arguments: Sequence[str]) -> int:  # noqa: RET503 - it ends by executing another program
    """Replaces this process by the command; returns an exit status only if that fails."""
    try:
        argv = command(Path(os.environ["LLMD_GKE_HOME"]), arguments)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return problem.status
    environment = {name: value for name, value in os.environ.items() if not is_proxy(name)}
    os.execvpe(argv[0], argv, environment)  # noqa: S606 - no shell


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
