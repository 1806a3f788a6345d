"""What a destroyed cluster left in the project: firewall rules, endpoint groups, addresses, disks."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import cast

from llmd_gke.settings import StackSettings

LISTS: tuple[tuple[str, ...], ...] = (
    ("compute", "firewall-rules", "list"),
    ("compute", "network-endpoint-groups", "list"),
    ("compute", "addresses", "list"),
    ("compute", "disks", "list"),
)
"""What GKE's controllers leave when a cluster goes before its Gateways (pulumi/pulumi-kubernetes#1787)."""


def look(settings: StackSettings) -> str | None:
    """Names of what is left, empty for nothing; ``None`` where it cannot be asked (no ``gcloud``, no permission)."""
    gcloud = shutil.which("gcloud")
    if gcloud is None:
        return None
    found: list[str] = []
    for words in LISTS:
        done = subprocess.run(
            [gcloud, *words, f"--project={settings.project}", "--format=json", "--quiet"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode:
            return None
        found += belonging(cast("Sequence[Mapping[str, object]]", json.loads(done.stdout or "[]")), settings, words[1])
    return ", ".join(found)


def belonging(entries: Sequence[Mapping[str, object]], settings: StackSettings, kind: str) -> list[str]:
    """Those that name the cluster, in their own name, network, target tags or description."""
    name = settings.cluster.name
    return [f"{kind} {entry.get('name')}" for entry in entries if name in json.dumps(entry)]
