"""Endpoints and certificate of a cluster's control plane: invented in the rehearsal, real in the laptop cloud.

``LLMD_GKE_CLOUD=laptop`` and ``$LLMD_GKE_HOME/cluster/laptop.json`` describe the real one. A laptop cloud has one
control plane, and therefore at most one cluster.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from llmd_common.problems import Problem
from localcloud.common import cluster_renewal as renew
from localcloud.common.layout import Layout
from localcloud.common.workdir import TRAITS, kind_of_environment
from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.rules.references import CLUSTER
from localcloud.google_api.rules.resource_type import CloudState, TargetResource, digits
from localcloud.product import zones
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.values import JsonObject, text

CERTIFICATE_AUTHORITY = "cmVoZWFyc2FsOiBubyBjZXJ0aWZpY2F0ZSBhdXRob3JpdHk="
"""Base64 of a sentence: nothing ever connects to that control plane."""

START = "Fix: make up CLOUD=laptop"


def is_real(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether this process belongs to a cloud in which a control plane of Kubernetes runs."""
    return TRAITS[kind_of_environment(environ)].namespaced


def facts_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The file in which a laptop cloud describes its control plane."""
    return Layout(Path(environ.get("LLMD_GKE_HOME") or ".laptop")).facts


def facts() -> JsonObject:
    """``endpoint`` (address), ``dnsEndpoint`` (name), ``caCertificate`` (PEM), ``servicesIpv4Cidr``,
    ``clusterIpv4Cidr``. Raises :class:`ApiError` where no laptop cloud runs.
    """
    file = facts_file()
    try:
        stored = cast(JsonObject, json.loads(file.read_text()))
    except (OSError, json.JSONDecodeError) as error:
        raise ApiError(400, f"the laptop cloud has no control plane: {error}. {START}") from None
    if absent := [key for key in ("endpoint", "dnsEndpoint", "caCertificate") if not text(stored, key)]:
        raise ApiError(400, f"{file} does not contain {', '.join(absent)}. {START}")
    return stored


def outputs(target: TargetResource) -> JsonObject:
    """Endpoints, certificate authority and ranges of a cluster."""
    stored = facts() if is_real() else {}
    number, region = digits(target.id, 12), zones.region_of(target.scope["location"])
    authority = text(stored, "caCertificate")
    return {
        # 192.0.2.0/24 is reserved for documentation (RFC 5737): nothing answers there.
        "endpoint": text(stored, "endpoint") or f"192.0.2.{int(digits(target.id, 6)) % 250 + 2}",
        "dnsEndpoint": text(stored, "dnsEndpoint") or f"gke-{digits(target.id, 30)}-{number}.{region}.gke.goog",
        "caCertificate": base64.b64encode(authority.encode()).decode() or CERTIFICATE_AUTHORITY,
        "servicesIpv4Cidr": text(stored, "servicesIpv4Cidr") or "34.118.224.0/20",
        "clusterIpv4Cidr": text(stored, "clusterIpv4Cidr") or "10.4.0.0/14",
    }


def create(cloud_state: CloudState, target: TargetResource) -> None:
    """Gives a new cluster the laptop cloud's control plane, emptied of an earlier cluster; rejects a second cluster."""
    if not is_real():
        return
    facts()
    for ident in cloud_state.all(CLUSTER):
        if ident != target.id:
            raise ApiError(
                400,
                f"a laptop cloud has one control plane, which {ident} already uses; allowed: one cluster.\n"
                "Fix: pulumi destroy for the other stack, or use a second laptop cloud (another LLMD_GKE_HOME)",
            )
    try:
        renew.take(Layout(facts_file().parents[1]))
    except Problem as problem:
        raise ApiError(400, str(problem)) from None


def forget(folder: Path, cluster: str) -> None:
    """Removes the objects of a deleted cluster from the Kubernetes stand-in's file in ``folder``."""
    with CloudFile(folder / "kubernetes.json").edit() as content:
        clusters = content.get("clusters")
        if isinstance(clusters, dict):
            clusters.pop(cluster, None)
            if not clusters:
                content.clear()
