"""The deployments of ``field.yaml``, and a ``kubectl`` that answers about them."""

from __future__ import annotations

import copy
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

CONTEXT = "gke_rehearsal_europe-west4_shared"
HERE = Path(__file__).parent


def objects() -> list[dict[str, Any]]:
    """Everything that somebody else has made, and the nodes."""
    return copy.deepcopy(yaml.safe_load((HERE / "field.yaml").read_text())["objects"])


def nodes() -> list[dict[str, Any]]:
    own = {
        "node.kubernetes.io/instance-type": "ct6e-standard-4t",
        "cloud.google.com/gke-tpu-topology": "2x2",
        "cloud.google.com/gke-nodepool": "tpu",
        "topology.kubernetes.io/zone": "europe-west4-a",
    }
    named = [{"name": f"gke-tpu-{index}", "labels": own} for index in range(4)]
    return [{"apiVersion": "v1", "kind": "Node", "metadata": one} for one in named]


@dataclass
class Cluster:
    """A cluster that exists; ``save`` makes changes visible to ``kubectl``."""

    file: Path
    objects: list[dict[str, Any]] = field(default_factory=lambda: [*objects(), *nodes()])
    denied: list[str] = field(default_factory=list[str])

    def save(self) -> None:
        self.file.write_text(json.dumps({"context": CONTEXT, "objects": self.objects, "denied": self.denied}))

    def of(self, kind: str, name: str) -> dict[str, Any]:
        return next(one for one in self.objects if one["kind"] == kind and one["metadata"]["name"] == name)

    def image(self, deployment: str, image: str) -> None:
        self.of("Deployment", deployment)["spec"]["template"]["spec"]["containers"][0]["image"] = image


def kubectl(folder: Path, patch: pytest.MonkeyPatch) -> Cluster:
    """A cluster, and a ``kubectl`` on PATH that reads it."""
    script = folder / "bin" / "kubectl"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {sys.executable} {HERE / "kubectl.py"} "$@"\n')
    script.chmod(0o755)
    cluster = Cluster(folder / "cluster.json")
    cluster.save()
    patch.setenv("CLUSTER", str(cluster.file))
    patch.setenv("PATH", str(script.parent), prepend=":")
    return cluster
