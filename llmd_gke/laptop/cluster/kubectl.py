"""kubectl inside a laptop cloud that runs."""

from __future__ import annotations

import os
import subprocess

from llmd_gke.laptop import programs
from llmd_gke.laptop.cluster.layout import Layout
from llmd_gke.laptop.errors import Problem
from llmd_gke.laptop.paths import Places
from llmd_gke.laptop.rehearsal.environment import clean
from llmd_gke.laptop.spaces import enter, find


def run(places: Places, *words: str, said: str = "") -> subprocess.CompletedProcess[str]:
    """Runs it to its end, with ``said`` as its input; its status is the caller's to judge.

    Raises ``Problem`` where no laptop cloud runs.
    """
    running = find.running(places.home)
    if running is None:
        raise Problem("The laptop cloud does not run.\nFix: make up CLOUD=laptop")
    layout = Layout(places.home)
    # What it discovers it would keep in the user's home, or without one in the current folder.
    own = {"KUBECONFIG": str(layout.kubeconfig), "KUBECACHEDIR": str(layout.root / "kubectl-cache")}
    return subprocess.run(
        enter.command(running.init.pid, [str(programs.path("kubectl")), *words]),
        env=clean(os.environ, places) | own,
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )
