"""Kubernetes objects from manifests, and their options."""

from __future__ import annotations

from typing import cast

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta import v1 as meta
from pulumi_kubernetes.networking import v1 as networking

from llmd_gke.manifests.types import JsonObject

NAMESPACE_TIMES = pulumi.CustomTimeouts(delete="30m")
"""Time limit of the deletion. GKE's finalizer keeps a Service, and with it the namespace, until the load balancer no
longer uses its network endpoint groups. The provider's own limit is 10 minutes."""


def custom_resource(name: str, manifest: JsonObject, opts: pulumi.ResourceOptions) -> CustomResource:
    """One custom resource, as a separate resource, so that policies see it also in the first preview."""
    return CustomResource(
        name,
        api_version=str(manifest["apiVersion"]),
        kind=str(manifest["kind"]),
        metadata=cast("JsonObject", manifest["metadata"]),
        spec=manifest["spec"],
        opts=opts,
    )


def network_policy(name: str, manifest: JsonObject, opts: pulumi.ResourceOptions) -> networking.NetworkPolicy:
    """One NetworkPolicy from its manifest."""
    return networking.NetworkPolicy(
        name,
        metadata=cast("meta.ObjectMetaArgsDict", manifest["metadata"]),
        spec=cast("networking.NetworkPolicySpecArgsDict", manifest["spec"]),
        opts=opts,
    )


def after(options: pulumi.ResourceOptions, *earlier: pulumi.Resource) -> pulumi.ResourceOptions:
    """The options, with more resources to wait for."""
    return pulumi.ResourceOptions.merge(options, pulumi.ResourceOptions(depends_on=[*earlier]))
