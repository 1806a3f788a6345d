"""Records what a laptop cloud's API server has, for the tests of ``status``: ``recorded.json`` beside this file.

In `make shell CLOUD=laptop`, with stack `local` up::

    python -m tests.operations.status.record --seconds 90

and meanwhile, in another such shell, what makes pods, nodes and events go through every state that the tests know::

    kubectl -n models delete pod -l kserve.io/component=workload --wait=false
    kubectl -n models scale deployment/qwen-kserve --replicas=5     # KServe puts that right again

Recorded are the objects as ``status`` reads them, at the end; and of those that were there for a moment, each that had
a path (``structure.py``) nothing before had. What a run makes up (uids, versions, who wrote which field) and what
status has no use for is left out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from operations import outputs
from operations.options import Cloud
from operations.status.gather import KINDS, ClusterApi
from operations.status.objects import Snapshot
from operations.target import Target
from tests.operations.status import structure

FILE = Path(__file__).with_name("recorded.json")
LEFT_OUT = frozenset(
    {"uid", "resourceVersion", "managedFields", "ownerReferences", "annotations", "finalizers", "generateName",
     "apiVersion", "containerID", "imageID", "volumes", "volumeMounts", "env", "args", "command", "securityContext",
     "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "tolerations", "template", "nodeInfo", "images",
     "podIP", "podIPs", "hostIP", "hostIPs", "affinity", "topologySpreadConstraints", "rules", "ports", "capacity",
     "podCIDR", "podCIDRs", "schedulingProfiles", "plugins", "parallelism", "appliedConfigs"}
)  # fmt: skip


def trimmed(value: Any) -> Any:
    """Without what is left out."""
    if isinstance(value, dict):
        return {key: trimmed(inner) for key, inner in value.items() if key not in LEFT_OUT}
    return [trimmed(inner) for inner in value] if isinstance(value, list) else value


def kinds(snapshot: Snapshot) -> dict[str, list[Any]]:
    """The objects of a snapshot that are recorded: of pods those of models, of events there one for each reason."""
    result = {kind: [trimmed(one) for one in getattr(snapshot, kind)] for kind, *_ in KINDS}
    for kind in ("pods", "events"):
        result[kind] = [one for one in result[kind] if one["metadata"]["namespace"] == "models"]
    result["events"] = list({one["reason"]: one for one in result["events"]}.values())
    return result


def _is_ready(pod: Any) -> bool:
    return all(status["ready"] for status in pod["status"].get("containerStatuses", [{"ready": False}]))


async def record(target: Target, seconds: float) -> dict[str, Any]:
    """Looks again and again, for so long, and then until all pods are ready."""
    cluster = await ClusterApi.connect(outputs.kubeconfig(target), target.settings.namespaces)
    seen: dict[str, set[str]] = {kind: set() for kind, *_ in KINDS}
    passing: dict[str, list[Any]] = {}
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while True:
        snapshot = await cluster.snapshot()
        now = kinds(snapshot)
        if loop.time() > end and all(_is_ready(pod) for pod in now["pods"]):
            break
        for kind, objects in now.items():
            for one in objects:
                if new := structure.of([one]) - seen[kind]:
                    seen[kind] |= new
                    passing.setdefault(kind, []).append(one)
                    print(f"{kind}: {one['metadata']['name']}: {len(new)} new paths", file=sys.stderr)
        await asyncio.sleep(0.2)
    return {
        "now": snapshot.now.isoformat(timespec="seconds"),
        "gatewayIp": outputs.read(target).gateway_ip,
        "objects": now,
        "passing": {kind: _only(result, now[kind]) for kind, result in passing.items()},
    }


def _only(passing: list[Any], there: list[Any]) -> list[Any]:
    """Those that have a path which neither what is there at the end has, nor one before them."""
    shape, kept = structure.of(there), list[Any]()
    for one in passing:
        if new := structure.of([one]) - shape:
            shape |= new
            kept.append(one)
    return kept


@dataclass(frozen=True)
class Recorded:
    """``every``: objects by kind, those of a moment, too; ``gateway_ip`` is what the outputs said."""

    snapshot: Snapshot
    every: dict[str, list[Any]]
    gateway_ip: str


def read() -> Recorded:
    content = json.loads(FILE.read_text())
    objects, passing = content["objects"], content["passing"]
    return Recorded(
        Snapshot(**objects, now=datetime.fromisoformat(content["now"])),
        {kind: [*result, *passing.get(kind, [])] for kind, result in objects.items()},
        content["gatewayIp"],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stack", default="local")
    parser.add_argument("--seconds", type=float, default=90)
    arguments = parser.parse_args()
    result = asyncio.run(record(Target.choose(arguments.stack, Cloud.LAPTOP), arguments.seconds))
    FILE.write_text(json.dumps(result, sort_keys=True, separators=(",", ":")) + "\n")
    print(f"{FILE}: {FILE.stat().st_size >> 10} KB", file=sys.stderr)


if __name__ == "__main__":
    main()
