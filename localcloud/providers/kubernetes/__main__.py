"""``python -m localcloud.providers.kubernetes``: serve as ``pulumi-resource-kubernetes``."""

from __future__ import annotations

from localcloud.providers.kubernetes.serve import serve

if __name__ == "__main__":
    serve()
