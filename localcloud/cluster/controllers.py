"""Waits for the platform's controllers before an update is repeated."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from rich.console import Console

from localcloud.cluster import kubectl
from localcloud.common.workdir import Workdir
from localcloud.linux_namespaces import discover
from localcloud.product import charts

WAIT_SECONDS = 120
"""Seconds that controllers may take to become available again."""


def wait(workdir: Workdir, console: Console) -> None:
    """Waits until every Deployment of the platform's charts is available, two minutes at most.

    Afterwards prints the missing ones, or why they could not be checked; raises nothing. It does not wait for models,
    which may need the update that follows.
    """
    if discover.running(workdir.home) is None:
        return
    done = kubectl.run(workdir, "get", "deployments", "-A", "-o", "json")
    if done.returncode == 0:
        controllers = _controllers(done.stdout)
        if not controllers:  # the update failed before it created the first of them
            return
        # Through a file: kubectl accepts objects of several namespaces with one time limit in no other way.
        command = ["wait", "--for=condition=Available", f"--timeout={WAIT_SECONDS}s", "-f", "-"]
        done = kubectl.run(
            workdir, *command, stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": controllers})
        )
    for line in done.stderr.splitlines():
        console.print(f"cluster: {line}", highlight=False, soft_wrap=True, markup=False)


def _controllers(listed: str) -> list[Mapping[str, object]]:
    """API version, kind, namespace and name of the Deployments of controllers in kubectl's JSON list."""
    theirs = charts.namespaces()
    items = cast("Mapping[str, Sequence[Mapping[str, Mapping[str, str]]]]", json.loads(listed))["items"]
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {key: item["metadata"][key] for key in ("namespace", "name")},
        }
        for item in items
        if item["metadata"]["namespace"] in theirs
    ]
