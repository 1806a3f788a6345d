"""Finds the cluster in Google's file that the provider's kubeconfig reaches."""

from __future__ import annotations

from typing import cast
from urllib.parse import urlsplit

import yaml

from localcloud.google_api.rules.container import hosts
from localcloud.google_api.rules.references import CLUSTER
from localcloud.providers.protocol.rules import ProviderRefusal
from localcloud.providers.protocol.values import JsonObject, objects, table, text


def cluster_in(google: JsonObject, config: JsonObject) -> tuple[str, JsonObject]:
    """The cluster's id and its record in Google's file. Raises :class:`ProviderRefusal` if it cannot be reached."""
    prefix = "configured Kubernetes cluster is unreachable: "
    host = urlsplit(text(active(config), "server")).hostname
    if not host:
        # The real provider would take the machine's own kubeconfig; the rehearsal must never touch that.
        raise ProviderRefusal(f"{prefix}the stand-in requires the provider's `kubeconfig` argument, and no file")
    for ident in (clusters := table(google, "objects", CLUSTER)):
        if host in hosts(record := table(clusters, ident)):
            return ident, record
    raise ProviderRefusal(
        f"{prefix}unable to load schema information from the API server: Get "
        f'"https://{host}/openapi/v2?timeout=32s": dial tcp: lookup {host}: no such host'
    )


def active(config: JsonObject) -> JsonObject:
    """The cluster entry of the current context in the provider's kubeconfig, empty where there is none."""
    given = config.get("kubeconfig")
    try:
        content: object = yaml.safe_load(given) if isinstance(given, str) else given
    except yaml.YAMLError:
        return {}
    kubeconfig = cast(JsonObject, content) if isinstance(content, dict) else {}
    context = _named(kubeconfig, "contexts", text(kubeconfig, "current-context"), "context")
    return _named(kubeconfig, "clusters", text(context, "cluster"), "cluster")


def _named(kubeconfig: JsonObject, section: str, name: str, key: str) -> JsonObject:
    found = next((entry for entry in objects(kubeconfig, section) if text(entry, "name") == name), None)
    return table(found, key)
