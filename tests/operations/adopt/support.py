"""The deployments of ``field.yaml``, and a ``kubectl`` that answers about them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.fakes.script import SHEBANG
from tests.operations.support import program

CONTEXT = "gke_rehearsal_europe-west4_shared"
KEEP = """
import sys
from operations import options, outputs, target
outputs.keep_models(target.Target.choose(sys.argv[1], options.Cloud(sys.argv[2])))
"""
"""What ``llmd-gke destroy --keep-models`` does before it destroys a stack in a cloud."""
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


LABEL, ZONE = "cloud.google.com/gke-", "topology.kubernetes.io/zone"
NODES: list[dict[str, Any]] = [
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"{pool}-{index}", "labels": marks}, "status": status}
    for pool, count, machine, more, status in (
        ("tpu", 4, "ct6e-standard-4t", {"tpu-accelerator": "tpu-v6e-slice", "tpu-topology": "2x2"}, {}),
        ("gpu", 1, "n1-standard-32", {"accelerator": "nvidia-tesla-t4"}, {"capacity": {"nvidia.com/gpu": "2"}}),
    )
    for index in range(count)
    for marks in [
        {
            "node.kubernetes.io/instance-type": machine,
            f"{LABEL}nodepool": pool,
            ZONE: f"europe-west4-{'a' if pool == 'tpu' else 'b'}",
            **{LABEL + key: one for key, one in more.items()},
        }
    ]
]
POOLS = {"apiVersion": "inference.networking.k8s.io/v1", "kind": "InferencePool", "metadata": {"name": "none"}}


def answer(printed: str) -> dict[str, Any]:
    """What ``adopt --output json`` has printed, between messages."""
    return json.JSONDecoder().raw_decode(printed[printed.index("{\n") :])[0]


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
    cluster = Cluster(folder / "cluster.json")
    cluster.save()
    patch.setenv("CLUSTER", str(cluster.file))
    program(folder / "bin" / "kubectl", SHEBANG + KUBECTL, patch)
    return cluster
