"""Waits for the parts of the Gateway API that GKE installs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

import pulumi
import pulumi_kubernetes as k8s

from components.cluster import Cluster
from components.retries import retry
from llmd_gke.catalog.existing import INFERENCE_POOLS
from llmd_gke.manifests.gateway import GATEWAY_API, gateway_class
from llmd_gke.settings import GatewaySettings, StackSettings

NOT_THERE_YET = re.compile(
    "not found|no matches for kind|could not find the requested resource|required value|must be positive"
)
"""Errors before GKE has created it; the last one is about the priorities of an APIService, which a patch would have to
set if it created one."""


@dataclass(frozen=True, kw_only=True)
class GatewayApiArgs:
    """``settings`` determine the class of the Gateway."""

    settings: GatewaySettings
    provider: k8s.Provider

    @classmethod
    def of(cls, settings: StackSettings, *, cluster: Cluster) -> Self | None:
        """Those of a stack with a cluster of its own: an existing one has both, which ``Cluster`` checks."""
        if settings.cluster.existing is not None:
            return None
        return cls(settings=settings.gateway, provider=cluster.provider)


class GatewayApi(pulumi.ComponentResource):
    """``llmd-gke:edge:GatewayApi``: delays everything that depends on it until GKE has accepted the GatewayClass and
    serves its InferencePool CRD.

    GKE installs the CRDs and classes some time after the cluster, in no documented order. They are not managed by this
    program, so each resource is a patch of one annotation, and is retried until the object exists. KServe's controller
    looks for the InferencePool CRD once, when it starts, and never watches pools otherwise (kserve/kserve
    ``pkg/controller/v1alpha2/llmisvc/controller.go``).
    """

    def __init__(self, name: str, args: GatewayApiArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:edge:GatewayApi", name, None, opts)
        try_again = retry("GKE has not created it yet", NOT_THERE_YET)
        hooks = pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{name}-not-there-yet", try_again)])

        def waiting() -> pulumi.ResourceOptions:
            return pulumi.ResourceOptions(
                parent=self,
                provider=args.provider,
                custom_timeouts=pulumi.CustomTimeouts(create="45m"),
                hooks=hooks,
            )

        if args.settings.is_googles:  # other controllers create their own
            k8s.apiextensions.CustomResourcePatch(
                f"{name}-class",
                api_version=GATEWAY_API,
                kind="GatewayClass",
                metadata={
                    "name": gateway_class(args.settings),
                    "annotations": {"pulumi.com/waitFor": "condition=Accepted"},
                },
                opts=waiting(),
            )
        k8s.apiextensions.CustomResourcePatch(
            f"{name}-inference-pools",
            api_version="apiregistration.k8s.io/v1",
            kind="APIService",
            metadata={
                "name": INFERENCE_POOLS,
                # Existence suffices: the API server then serves it. If a condition already held, the provider would
                # store the object as it was before the patch, and patch it again in the next update.
                "annotations": {"pulumi.com/skipAwait": "true"},
            },
            opts=waiting(),
        )
        self.register_outputs({})
