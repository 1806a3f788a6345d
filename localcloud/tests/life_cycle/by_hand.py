"""What a user deletes by hand: objects that exist outside of the stack, at Google or in a cluster."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import cast

from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.server import Emulator
from localcloud.providers.kubernetes.objects import ClusterObjects
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.values import JsonObject
from localcloud.tests.life_cycle.invariants import Entry
from localcloud.workflow import cloud_files

HOSTS = {
    "monitoring": "monitoring.googleapis.com/v1", "container": "container.googleapis.com/v1",
    "iam": "iam.googleapis.com/v1", "compute": "compute.googleapis.com/compute/v1",
}  # fmt: skip
"""Where an object is deleted by hand."""
PARTS = {"/dashboards/": "monitoring", "/clusters/": "container", "/serviceAccounts/": "iam"}


def delete(cloud: Path, entries: Collection[Entry]) -> int:
    """Deletes the entries in the cloud of that folder, what is within another one first; how many objects that were."""
    emulator = Emulator(EmulatedCloud(cloud))
    deleted = 0
    for kind, ident in sorted(entries, key=lambda one: -len(one[1])):
        if not kind.startswith("gcp:"):
            deleted += _delete_in_cluster(cloud, kind, ident)
            continue
        if not ident.startswith("projects/"):
            continue
        host = HOSTS[next((name for part, name in PARTS.items() if part in ident), "compute")]
        status, answer = emulator.answer("DELETE", f"{host}/{ident}", {}, {})
        assert status in (200, 404), answer
        deleted += 1
    return deleted


def _delete_in_cluster(cloud: Path, kind: str, ident: str) -> int:
    """What `kubectl delete` or `helm uninstall` does."""
    deleted = 0
    with CloudFile(cloud / cloud_files.FILES[1]).edit() as content:
        for where in list(cast("JsonObject", content.get("clusters") or {})):
            cluster = ClusterObjects(content, where)
            if cluster.get(kind, ident) is not None:
                cluster.drop(kind, ident)
                deleted += 1
    return deleted
