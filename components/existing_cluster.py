"""What a cluster has already: read, never changed, and checked in every preview."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.apps import v1 as apps

from llmd_gke.catalog.existing import INFERENCE_POOLS, Part
from llmd_gke.manifests.gateway import GATEWAY_API
from llmd_gke.rules import existing as rules


@dataclass(frozen=True)
class Found:
    """A controller's Deployment as it is in the cluster, and its version, which has passed the rule."""

    resource: apps.Deployment
    version: pulumi.Output[str]


def found(
    name: str, controllers: Mapping[Part, str], gateway_class: str | None, opts: pulumi.ResourceOptions
) -> dict[Part, Found]:
    """Reads the GatewayClass (``None``: the stack brings its own), the API of InferencePools, and the Deployments
    (``NAMESPACE/NAME``) of ``controllers``.

    Without one of them, or with a version that is too old, a preview fails, and an update before it changes anything.
    """
    for version, kind, ident in (
        (GATEWAY_API, "GatewayClass", gateway_class),
        ("apiregistration.k8s.io/v1", "APIService", INFERENCE_POOLS),
    ):
        if ident is not None:
            CustomResource.get(f"{name}-{kind.lower()}", version, kind, ident, opts)
    return {part: _controller(f"{name}-{part.key}", part, where, opts) for part, where in controllers.items()}


def _controller(name: str, part: Part, where: str, opts: pulumi.ResourceOptions) -> Found:
    deployment = apps.Deployment.get(name, where, opts)

    def checked(spec: apps.outputs.DeploymentSpec | None) -> str:
        pod = None if spec is None else spec.template.spec
        containers = () if pod is None else pod.containers
        version = rules.version_of_images(part, [one.image or "" for one in containers])
        for finding in rules.version(part, version):
            message = f"{finding.problem}\nFix: {finding.fix}"
            if finding.severity == "error":
                raise pulumi.RunError(f"llmd-gke:cluster.existing.controllers.{part.key}: {message}")
            pulumi.log.warn(message)
        return version

    return Found(deployment, deployment.spec.apply(checked))
