"""The deployments of ``field.yaml``, and a ``kubectl`` that answers about them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.fakes.script import SHEBANG

CONTEXT = "gke_rehearsal_europe-west4_shared"
OTHERS = (Path(__file__).parent / "field.yaml").read_text()
"""Everything that somebody else has made."""
KUBECTL = """
import json, os, sys
cluster = json.loads(open(os.environ["CLUSTER"]).read())
if "--context" in sys.argv and cluster["context"] not in sys.argv:
    sys.exit(f'error: context "{sys.argv[2]}" does not exist')
kinds = {(one["kind"], one["apiVersion"]) for one in cluster["objects"]}
plural = lambda kind, version: f"{kind.lower()}s." + version.rpartition("/")[0]
if "api-resources" in sys.argv:
    print(*(f"{kind.lower()}s  {version}  true  {kind}" for kind, version in kinds), sep="\\n")
else:
    asked = {one if "." in one else f"{one}." for one in sys.argv[sys.argv.index("get") + 1].split(",")}
    objects = [one for one in cluster["objects"] if plural(one["kind"], one["apiVersion"]) in asked]
    print(json.dumps({"items": [one for one in objects if one["kind"] not in cluster["denied"]]}))
    if denied := [one["kind"] for one in objects if one["kind"] in cluster["denied"]]:
        sys.exit(f'Error from server (Forbidden): User "ann" cannot list resource "{denied[0]}"')
"""


def node(name: str, pool: str, machine: str, **resources: str) -> dict[str, Any]:
    """A node; ``resources``: its chips."""
    label = "cloud.google.com/gke-"
    kinds = {f"{label}tpu-accelerator": "tpu-v6e-slice", f"{label}tpu-topology": "2x2"}
    marks = {
        "node.kubernetes.io/instance-type": machine,
        f"{label}nodepool": pool,
        "topology.kubernetes.io/zone": "europe-west4-a",
        **({f"{label}accelerator": "nvidia-tesla-t4"} if resources else kinds),
    }
    status = {"capacity": {f"{key}.com/gpu": count for key, count in resources.items()}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": marks}, "status": status}


NODES = [node(f"tpu-{one}", "tpu", "ct6e-standard-4t") for one in range(4)]
NODES.append(node("gpu-0", "gpu", "n1-standard-32", nvidia="2"))
POOLS = {"apiVersion": "inference.networking.k8s.io/v1", "kind": "InferencePool", "metadata": {"name": "none"}}


@dataclass
class Cluster:
    """A cluster that exists; ``save`` makes changes visible to ``kubectl``. ``denied``: kinds."""

    file: Path
    objects: list[dict[str, Any]] = field(default_factory=lambda: [*yaml.safe_load(OTHERS), *NODES, POOLS])
    denied: list[str] = field(default_factory=list[str])

    def save(self) -> None:
        self.file.write_text(json.dumps({"context": CONTEXT, "objects": self.objects, "denied": self.denied}))

    def of(self, kind: str, name: str) -> dict[str, Any]:
        return next(one for one in self.objects if (one["kind"], one["metadata"]["name"]) == (kind, name))


def kubectl(folder: Path, patch: pytest.MonkeyPatch) -> Cluster:
    """A cluster, and a ``kubectl`` on PATH that reads it."""
    script, cluster = folder / "bin" / "kubectl", Cluster(folder / "cluster.json")
    script.parent.mkdir()
    script.write_text(SHEBANG + KUBECTL)
    script.chmod(0o755)
    cluster.save()
    patch.setenv("CLUSTER", str(cluster.file))
    patch.setenv("PATH", str(script.parent), prepend=":")
    return cluster
