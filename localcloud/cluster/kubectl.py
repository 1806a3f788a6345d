"""Runs kubectl inside a running laptop cloud."""

from __future__ import annotations

import os
import subprocess

from llmd_common import child_process
from llmd_common.problems import Problem
from localcloud import binaries
from localcloud.common.environment import clean
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir
from localcloud.linux_namespaces import discover, enter


def run(workdir: Workdir, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Runs it to its end, with ``stdin`` as its input; the caller checks its status.

    Raises ``Problem`` if no laptop cloud runs.
    """
    running = discover.running(workdir.home)
    if running is None:
        raise Problem("The laptop cloud is not running.\nFix: make up CLOUD=laptop")
    layout = Layout(workdir.home)
    # kubectl would cache API discovery in the user's home, or without one in the current folder.
    own = {"KUBECONFIG": str(layout.kubeconfig), "KUBECACHEDIR": str(layout.root / "kubectl-cache")}
    return child_process.run(
        enter.command(running.init.pid, [str(binaries.path("kubectl")), *arguments]),
        environment=clean(os.environ, workdir) | own,
        stdin=stdin,
    )
