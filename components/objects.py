"""Kubernetes objects from manifests."""

from __future__ import annotations

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource

from llmd_gke.manifests.types import JsonObject


def custom_resource(name: str, manifest: JsonObject, opts: pulumi.ResourceOptions) -> CustomResource:
    """One custom resource, as an individual resource: policies must see it, also on the first preview."""
    return CustomResource(
        name,
        api_version=str(manifest["apiVersion"]),
        kind=str(manifest["kind"]),
        metadata=manifest["metadata"],
        spec=manifest["spec"],
        opts=opts,
    )
