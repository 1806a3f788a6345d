"""``python -m localcloud.cluster``: the commands of :mod:`localcloud.cluster.cli` by themselves."""

from __future__ import annotations

import sys

from llmd_common.problems import Problem
from localcloud.cluster.cli import app

if __name__ == "__main__":
    try:
        app()
    except Problem as problem:
        print(problem, file=sys.stderr)
        sys.exit(problem.status)
