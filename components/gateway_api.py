"""Waiting for GKE's half of the Gateway API."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from llmd_gke.manifests.routing import GATEWAY_API, gateway_class
from llmd_gke.settings import GatewaySettings

RETRY_SECONDS = 30
RETRIES = 90
"""45 minutes: what GatewayClasses took at worst. The engine allows 100."""

NOT_THERE_YET = ("not found", "no matches for kind", "could not find the requested resource", "required value")


@dataclass(frozen=True)
class GatewayApiArgs:
    """``settings`` decide which class the Gateway will use."""

    settings: GatewaySettings
    provider: k8s.Provider


class GatewayApi(pulumi.ComponentResource):
    """``llmd-gke:edge:GatewayApi``: holds everything back until GKE has accepted the GatewayClass.

    GKE brings the CRDs and classes some time after the cluster. The class is not ours, so this is a patch of one
    annotation that waits for ``Accepted``, and is tried again while the class or its CRD is not there.
    """

    def __init__(self, name: str, args: GatewayApiArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:edge:GatewayApi", name, None, opts)
        k8s.apiextensions.CustomResourcePatch(
            f"{name}-class",
            api_version=GATEWAY_API,
            kind="GatewayClass",
            metadata={
                "name": gateway_class(args.settings),
                "annotations": {"pulumi.com/waitFor": "condition=Accepted"},
            },
            opts=pulumi.ResourceOptions(
                parent=self,
                provider=args.provider,
                custom_timeouts=pulumi.CustomTimeouts(create="45m"),
                hooks=pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{name}-not-there-yet", try_again)]),
            ),
        )
        self.register_outputs({})


async def try_again(args: pulumi.ErrorHookArgs) -> bool:
    """Whether a failed creation deserves another attempt: only while the class or its CRD is not there yet."""
    newest = args.errors[0].lower() if args.errors else ""
    waiting = args.failed_operation == "create" and any(sign in newest for sign in NOT_THERE_YET)
    if not waiting or len(args.errors) > RETRIES:
        return False
    pulumi.log.info(f"GKE has not made the GatewayClass yet, trying again in {RETRY_SECONDS} s")
    await asyncio.sleep(RETRY_SECONDS)
    return True
