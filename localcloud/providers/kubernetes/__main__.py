"""``python -m localcloud.providers.kubernetes``: serve as ``pulumi-resource-kubernetes``."""

from __future__ import annotations

from localcloud.providers.kubernetes.provider import Kubernetes
from localcloud.providers.protocol.serve import serve

if __name__ == "__main__":
    serve(Kubernetes)
