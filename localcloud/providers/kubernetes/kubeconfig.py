"""Finds the cluster of a kubeconfig, and checks that the kubeconfig has what a client needs. It is never used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

import yaml

from localcloud.providers.protocol.values import JsonObject, JsonValue, dig, objects, text

CREDENTIALS = (
    "exec",
    "token",
    "tokenFile",
    "client-certificate-data",
    "client-certificate",
    "auth-provider",
    "username",
)


class ClusterUnreachable(Exception):
    """The reason why the cluster cannot be reached, as the provider finds it when it is configured."""


@dataclass(frozen=True)
class Active:
    """The cluster entry that is in use, and the name or address of its API server."""

    host: str
    entry: JsonObject


def parse(kubeconfig: JsonValue) -> JsonObject:
    """A kubeconfig given as YAML, JSON or an object. The stand-in reads no files: a path is refused."""
    if isinstance(kubeconfig, dict):
        return kubeconfig
    try:
        content: object = yaml.safe_load(kubeconfig) if isinstance(kubeconfig, str) else None
    except yaml.YAMLError as error:
        raise ClusterUnreachable(
            f"failed to parse kubeconfig data in `kubernetes:config:kubeconfig`- {error}"
        ) from None
    if not isinstance(content, dict):
        # The real provider would take the machine's own kubeconfig; the rehearsal must never touch that.
        raise ClusterUnreachable(
            "no kubeconfig: the stand-in requires the provider's `kubeconfig` argument, not a file"
        )
    return cast(JsonObject, content)


def _named(config: JsonObject, section: str, name: str, key: str) -> JsonObject | None:
    for entry in objects(config, section):
        value = entry.get(key)
        if text(entry, "name") == name and isinstance(value, dict):
            return value
    return None


def active(kubeconfig: JsonValue, settings: JsonObject) -> Active:
    """The active cluster: ``context`` and ``cluster`` of the provider go before the file's own.

    As ``getActiveClusterFromConfig`` in pulumi-kubernetes ``provider/pkg/provider/util.go`` @v4.25.0.
    """
    config = parse(kubeconfig)
    context = text(settings, "context") or text(config, "current-context")
    chosen = _named(config, "contexts", context, "context")
    if chosen is None:
        raise ClusterUnreachable(f'context "{context}" does not exist in the kubeconfig')
    name = text(settings, "cluster") or text(chosen, "cluster")
    entry = _named(config, "clusters", name, "cluster")
    host = urlsplit(text(entry, "server")).hostname
    if entry is None or not host:
        raise ClusterUnreachable(f'cluster "{name}" does not exist in the kubeconfig, or has no server')
    user = _named(config, "users", text(chosen, "user"), "user")
    if user is None or not any(dig(user, key) for key in CREDENTIALS):
        raise ClusterUnreachable("the server has asked for the client to provide credentials")
    return Active(host, entry)
