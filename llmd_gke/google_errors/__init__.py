"""Error messages of Google, Kubernetes and their Pulumi providers, each with its cause and fix, as data.

The texts are those of hashicorp/terraform-provider-google 7.39, pulumi-kubernetes 4.34, Helm 3, and of Google's APIs
(https://cloud.google.com/apis/design/errors). ``docs/troubleshooting.md`` shows the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from llmd_gke.google_errors import cluster, google_cloud, new_cluster
from llmd_gke.google_errors.cluster import CERTIFICATE, GONE, NO_PLUGIN
from llmd_gke.google_errors.entry import GoogleError
from llmd_gke.google_errors.google_cloud import SIGN_IN
from llmd_gke.google_errors.new_cluster import CLUSTER_ALONE

__all__ = ["CLUSTER_ALONE", "ERRORS", "GONE", "NOT_GONE", "SIGN_IN", "GoogleError", "explained", "explanation"]

NOT_GONE = (NO_PLUGIN, SIGN_IN, CERTIFICATE)
"""What keeps this machine from a cluster, whether or not it exists. The provider names it for some objects only and
writes :data:`GONE` for the others (``Delete`` in pulumi-kubernetes' ``provider.go``)."""

ERRORS: tuple[GoogleError, ...] = (
    *new_cluster.NEW_CLUSTER,
    NO_PLUGIN,
    *cluster.HELM_AND_WEBHOOKS,
    *google_cloud.REFUSALS,
    *google_cloud.CONFLICTS,
    *cluster.CONNECTION,
    *google_cloud.OTHERS,
)
"""The first entry that matches applies."""


def pool_fix(cause: str, stack: str) -> str:
    """The fix for a node pool whose nodes GKE could not create. ``cause``: GKE's message."""
    return next((fix for _, fix in explained([cause], stack)), "fix the cause that GKE names")


def pool_again(pool: str, stack: str) -> str:
    """How to recreate a node pool in state ERROR, which the provider regards as created. ``pool``: its name in GKE."""
    resource = "*-system" if pool == "system" else f"{pool}-nodes"  # components/cluster.py, components/pool.py
    return (
        "GKE keeps trying. `pulumi up` does not, because it counts the pool as created: "
        f"`pulumi up --stack {stack} --replace '**NodePool::{resource}'` recreates it"
    )


def explained(messages: Iterable[str], stack: str) -> Iterator[tuple[str, str]]:
    """Cause and fix of every message that matches an entry, without duplicates."""
    explanations = dict.fromkeys(one for one in map(explanation, messages) if one)
    if not explanations.keys().isdisjoint(NOT_GONE):
        explanations.pop(GONE, None)
    for one in explanations:
        yield one.cause, one.fix.format(stack=stack)


def explanation(message: str) -> GoogleError | None:
    """The first entry that a message matches."""
    return next((one for one in ERRORS if re.search(one.sign, message, re.IGNORECASE)), None)
