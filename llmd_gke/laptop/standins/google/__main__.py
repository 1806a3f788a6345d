"""``python -m llmd_gke.laptop.standins.google``: serve as ``pulumi-resource-gcp``."""

from __future__ import annotations

from llmd_gke.laptop.standins.core.serve import serve
from llmd_gke.laptop.standins.google.provider import Google

if __name__ == "__main__":
    serve(Google)
