"""Node pools in GKE: whether GKE could create their nodes, and if not, why.

The provider does not report GKE's reason. It fails once, and considers the pool created from then on: the next ``pulumi
up`` succeeds, with or without nodes (hashicorp/terraform-provider-google 7.39, ``resource_container_node_pool.go``;
``localcloud/tests/published_provider/test_faults.py`` shows it).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from llmd_common.kubernetes.fields import each, text
from llmd_gke import google_errors
from llmd_gke.settings import StackSettings
from operations.doctor.context import Context
from operations.doctor.google import GoogleClient
from operations.doctor.result import Result, ok, warning

CHECK = "node pools"
ERROR = "ERROR"
BROKEN = (ERROR, "RUNNING_WITH_ERROR")
"""https://cloud.google.com/kubernetes-engine/docs/reference/rest/v1/projects.locations.clusters.nodePools#status"""
RUNNING = "RUNNING"


@dataclass(frozen=True)
class NodePool:
    """A pool of the stack's cluster. ``cause``: GKE's message about its state; empty if there is none."""

    name: str
    state: str
    cause: str

    @property
    def broken(self) -> bool:
        """Whether the pool needs attention."""
        return self.state in BROKEN

    @property
    def message(self) -> str:
        """Its state and the reason."""
        return f"{self.name} is {self.state}: {self.cause or 'GKE gives no reason'}"

    def fix(self, stack: str) -> str:
        """The fix for the cause, and how to recreate the pool."""
        first = google_errors.pool_fix(self.cause, stack)
        return f"{first}; {google_errors.pool_again(self.name, stack)}" if self.state == ERROR else first


def node_pools(google: GoogleClient, settings: StackSettings) -> list[NodePool]:
    """The node pools of the stack's cluster. Raises ``MissingResource`` if there is no cluster, and other
    ``GoogleRequestError``.
    """
    cluster = settings.cluster
    parent = f"projects/{settings.project}/locations/{cluster.location}/clusters/{cluster.gke_name}"
    answer = google.ask("container.projects.locations.clusters.nodePools.list", parent=parent)
    return [
        # GKE is replacing the field ``statusMessage`` by conditions.
        NodePool(
            text(one, "name"),
            text(one, "status"),
            text(one, "statusMessage")
            or "; ".join(text(state, "message") or text(state, "code") for state in each(one, "conditions")),
        )
        for one in each(answer, "nodePools")
    ]


def check(context: Context) -> Iterator[Result]:
    """GKE has created the nodes of every pool that the stack considers created. No result without a cluster."""
    if not context.up:
        return
    pools = node_pools(context.google, context.settings)
    broken = [pool for pool in pools if pool.broken]
    for pool in broken:
        yield warning(CHECK, pool.message, pool.fix(context.stack))
    if not broken:
        yield ok(CHECK, f"GKE reports no error of {', '.join(pool.name for pool in pools) or 'any'}")
