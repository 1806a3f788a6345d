"""``python -m localcloud.providers.google``: serve as ``pulumi-resource-gcp``."""

from __future__ import annotations

from localcloud.providers.google.provider import GoogleProvider
from localcloud.providers.protocol.serve import serve

if __name__ == "__main__":
    serve(GoogleProvider)
