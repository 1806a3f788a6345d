"""Which objects a lost answer may leave outside of the state: those of the kinds whose answers were lost."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from localcloud.tests.life_cycle.invariants import DEFAULT_POOL, MEMBER, NAT
from localcloud.tests.life_cycle.observation import kubernetes_kind
from localcloud.tests.life_cycle.steps import Victim

CLUSTER, POOL = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
_OF_METHODS: tuple[tuple[str, frozenset[str]], ...] = (
    ("compute.networks.", frozenset({"gcp:compute/network:Network"})),
    ("compute.subnetworks.", frozenset({"gcp:compute/subnetwork:Subnetwork"})),
    ("compute.routers.", frozenset({"gcp:compute/router:Router", NAT})),
    ("compute.addresses.", frozenset({"gcp:compute/address:Address"})),
    ("iam.projects.serviceAccounts.", frozenset({"gcp:serviceaccount/account:Account"})),
    ("container.projects.locations.clusters.nodePools.", frozenset({POOL})),
    # GKE makes the default pool with a cluster.
    ("container.projects.locations.clusters.", frozenset({CLUSTER, DEFAULT_POOL})),
    ("monitoring.projects.dashboards.", frozenset({"gcp:monitoring/dashboard:Dashboard"})),
    ("cloudresourcemanager.projects.", frozenset({MEMBER})),
    ("serviceusage.services.", frozenset()),
)
"""What the methods that plans name make, by the beginning of their names; APIs are not compared."""


def of_method(method: str) -> frozenset[str]:
    """The kinds of objects that may exist unnoticed when the answer of a method is lost.

    Raises ``LookupError`` for a method that is not in the table.
    """
    for prefix, kinds in _OF_METHODS:
        if method.startswith(prefix):
            return kinds
    raise LookupError(method)


def of_kill(victim: Victim, events: Path) -> frozenset[str]:
    """The kinds of objects that may exist unnoticed when a provider or the emulator is killed.

    They are those whose operations failed, as the engine's log says, on the victim's side.
    """
    if victim == "engine":  # it writes down what it begins
        return frozenset()
    google = victim != "kubernetes"
    failed = {kind for kind in _failed(events) if kind.startswith("gcp:") == google}
    return frozenset(failed | {DEFAULT_POOL} if CLUSTER in failed else failed)


def _failed(events: Path) -> Iterable[str]:
    if not events.exists():
        return
    for line in events.read_text(encoding="utf-8").splitlines():
        if '"resOpFailedEvent"' in line:
            yield kubernetes_kind(str(json.loads(line)["resOpFailedEvent"]["metadata"]["type"]))
