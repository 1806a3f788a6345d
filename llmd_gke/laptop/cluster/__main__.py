"""``python -m llmd_gke.laptop.cluster``: the commands of :mod:`llmd_gke.laptop.cluster.cli` by themselves."""

from __future__ import annotations

import sys

from llmd_gke.laptop.cluster.cli import app
from llmd_gke.laptop.errors import Problem

if __name__ == "__main__":
    try:
        app()
    except Problem as problem:
        print(problem, file=sys.stderr)
        sys.exit(problem.status)
