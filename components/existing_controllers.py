"""Controllers that a cluster has already."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.apps import v1 as apps

from llmd_gke.catalog.existing import Part
from llmd_gke.rules import existing as rules


@dataclass(frozen=True)
class Found:
    """A controller's Deployment as it is in the cluster, and its version, which has passed the rule."""

    resource: apps.Deployment
    version: pulumi.Output[str]


def controller(name: str, part: Part, where: str, opts: pulumi.ResourceOptions) -> Found:
    """Reads the Deployment ``where`` (``NAMESPACE/NAME``), in previews, too: without it, or with a version that is too
    old, a preview fails, and an update before it changes anything.
    """
    deployment = apps.Deployment.get(name, where, opts)

    def checked(spec: apps.outputs.DeploymentSpec | None) -> str:
        containers = () if spec is None else spec.template.spec.containers
        version = rules.version_of_images(part, [one.image or "" for one in containers])
        for finding in rules.version(part, version):
            message = f"{finding.problem}\nFix: {finding.fix}"
            if finding.severity == "error":
                raise pulumi.RunError(f"llmd-gke:cluster.existing.controllers.{part.key}: {message}")
            pulumi.log.warn(message)
        return version

    return Found(deployment, deployment.spec.apply(checked))
