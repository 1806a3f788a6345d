"""Finds the cluster in Google's file that the provider's kubeconfig reaches."""

from __future__ import annotations

from localcloud.google_api.rules.container import hosts
from localcloud.google_api.rules.references import CLUSTER, NODE_POOL
from localcloud.providers.kubernetes import kubeconfig
from localcloud.providers.kubernetes.kubeconfig import ClusterUnreachable
from localcloud.providers.protocol.rules import ProviderRefusal
from localcloud.providers.protocol.values import JsonObject, JsonValue, dig


def cluster_in(google: JsonObject, config: JsonObject) -> tuple[str, JsonObject]:
    """The cluster's id and its part of Google's file, with its pools. Raises an error if it cannot be reached."""
    prefix = "configured Kubernetes cluster is unreachable: "
    try:
        host = kubeconfig.active(config.get("kubeconfig"), config).host
    except ClusterUnreachable as error:
        raise ProviderRefusal(f"{prefix}{error}") from None
    clusters, pools = dig(google, "objects", CLUSTER), dig(google, "objects", NODE_POOL)
    for ident, record in clusters.items() if isinstance(clusters, dict) else ():
        if isinstance(record, dict) and host in hosts(record):
            every = pools if isinstance(pools, dict) else {}
            own: list[JsonValue] = [pool for key, pool in every.items() if key.startswith(f"{ident}/")]
            return ident, {**record, "pools": own, "location": ident.split("/")[3]}
    raise ProviderRefusal(
        f"{prefix}unable to load schema information from the API server: Get "
        f'"https://{host}/openapi/v2?timeout=32s": dial tcp: lookup {host}: no such host'
    )


def active(settings: JsonObject) -> JsonObject | None:
    """The cluster entry that the provider's settings mean, ``None`` where they mean none."""
    try:
        return kubeconfig.active(settings.get("kubeconfig"), settings).entry
    except ClusterUnreachable:
        return None
