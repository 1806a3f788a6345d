"""Names of the resources that ``llmd-gke doctor --probe`` creates, so that ones it could not delete are recognized."""

from __future__ import annotations

LABEL = "llmd-gke-probe"
"""Prefix of the names of its hosts, VPCs and subnets, and a label of its hosts."""


def is_of_probe(path: str) -> bool:
    """Whether a path in Google's APIs, such as ``projects/p/zones/z/instances/NAME``, is a resource of the probe."""
    return path.rpartition("/")[2].startswith(f"{LABEL}-")
