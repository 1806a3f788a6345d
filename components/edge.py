"""The edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pulumi
import pulumi_kubernetes as k8s

from components.network import Network
from components.objects import custom_resource
from components.sdk import core
from llmd_gke.manifests import naming, routing
from llmd_gke.settings import GatewaySettings


@dataclass(frozen=True)
class EdgeArgs:
    """``network`` holds the reserved regional address."""

    settings: GatewaySettings
    network: Network
    provider: k8s.Provider


class Edge(pulumi.ComponentResource):
    """``llmd-gke:edge:Edge``: the Gateway in a namespace of its own, at the reserved address.

    It waits until GKE has programmed the load balancer. Only namespaces with our label may attach routes.
    """

    def __init__(self, name: str, args: EdgeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:edge:Edge", name, None, opts)
        namespace = core.Namespace(
            f"{name}-namespace",
            metadata={"name": naming.GATEWAY_NAMESPACE},
            opts=pulumi.ResourceOptions(parent=self, provider=args.provider),
        )
        custom_resource(
            f"{name}-gateway",
            # The SDK resolves an Output wherever it stands in a specification.
            routing.gateway(args.settings, cast("str", args.network.address_name)),
            pulumi.ResourceOptions(
                parent=self,
                provider=args.provider,
                depends_on=[namespace],
                custom_timeouts=pulumi.CustomTimeouts(create="30m", delete="30m"),
            ),
        )
        self.register_outputs({})
