"""How a host that ``llmd-gke doctor --probe`` makes is called, for those who find one that it could not remove."""

from __future__ import annotations

LABEL = "llmd-gke-probe"
"""Names of its hosts, VPCs and subnets begin with it; its hosts have it as a label, too."""


def is_of_probe(path: str) -> bool:
    """Whether that path in Google's APIs, such as ``projects/p/zones/z/instances/NAME``, is one of them."""
    return path.rpartition("/")[2].startswith(f"{LABEL}-")
