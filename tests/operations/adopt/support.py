"""The deployments of ``field.yaml``, and a ``kubectl`` that answers about them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.fakes.script import SHEBANG

CONTEXT = "gke_rehearsal_europe-west4_shared"
HERE = Path(__file__).parent
KUBECTL = """
import json, os, sys
answers = json.loads(open(os.environ["CLUSTER"]).read())
if "--context" in sys.argv and answers["context"] not in sys.argv:
    sys.exit(f'error: context "{sys.argv[2]}" does not exist')
answer = answers.get(sys.argv[-1], "Error from server (NotFound): the server could not find the requested resource")
sys.exit(answer) if isinstance(answer, str) else print(json.dumps(answer))
"""
NODE = {
    "node.kubernetes.io/instance-type": "ct6e-standard-4t",
    "cloud.google.com/gke-tpu-topology": "2x2",
    "cloud.google.com/gke-nodepool": "tpu",
    "topology.kubernetes.io/zone": "europe-west4-a",
}
NODES = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"tpu-{one}", "labels": NODE}} for one in range(4)]
POOLS = {"apiVersion": "inference.networking.k8s.io/v1", "kind": "InferencePool", "metadata": {"name": "none"}}


def objects() -> list[dict[str, Any]]:
    """Everything that somebody else has made."""
    return copy.deepcopy(yaml.safe_load((HERE / "field.yaml").read_text()))


@dataclass
class Cluster:
    """A cluster that exists; ``save`` makes changes visible to ``kubectl``. ``denied``: plurals."""

    file: Path
    objects: list[dict[str, Any]] = field(default_factory=lambda: [*objects(), *NODES, POOLS])
    denied: list[str] = field(default_factory=list[str])

    def save(self) -> None:
        self.file.write_text(json.dumps({"context": CONTEXT, "/version": {}, **dict(self._answers())}))

    def of(self, kind: str, name: str) -> dict[str, Any]:
        return next(one for one in self.objects if (one["kind"], one["metadata"]["name"]) == (kind, name))

    def _answers(self) -> Iterator[tuple[str, object]]:
        versions = {one["apiVersion"] for one in self.objects}
        yield "/apis", {"groups": [{"name": one.rpartition("/")[0]} for one in versions]}
        for version in versions:
            path = f"/api/{version}" if version == "v1" else f"/apis/{version}"
            kinds = {one["kind"] for one in self.objects if one["apiVersion"] == version}
            plurals = {kind: f"{kind.lower()}s".replace("policys", "policies").replace("sss", "sses") for kind in kinds}
            yield path, {"resources": [{"name": plural, "kind": kind} for kind, plural in plurals.items()]}
            for kind, plural in plurals.items():
                items = [one for one in self.objects if (one["apiVersion"], one["kind"]) == (version, kind)]
                refusal = f'Error from server (Forbidden): User "ann" cannot list resource "{plural}"'
                yield f"{path}/{plural}", refusal if plural in self.denied else {"items": items}


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
