"""``python -m llmd_gke.laptop.standins.kubernetes``: serve as ``pulumi-resource-kubernetes``."""

from __future__ import annotations

from llmd_gke.laptop.standins.core.serve import serve
from llmd_gke.laptop.standins.kubernetes.provider import Kubernetes

if __name__ == "__main__":
    serve(Kubernetes)
