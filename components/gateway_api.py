"""Waiting for GKE's half of the Gateway API."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as k8s

from llmd_gke.manifests.routing import GATEWAY_API, gateway_class
from llmd_gke.settings import GatewaySettings

PAUSES = (3, 6, 12)
"""Seconds before the first attempts after a failed one: classes often come shortly after the cluster's nodes."""
LAST_PAUSE = 30
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


def pause(operation: str, errors: Sequence[str]) -> int | None:
    """Seconds to wait before another attempt; ``None`` when a failed operation deserves none.

    ``errors`` are those of all attempts so far, the newest first. Only a creation is tried again, and only while the
    class or its CRD is not there yet.
    """
    newest = errors[0].lower() if errors else ""
    if operation != "create" or len(errors) > RETRIES or not any(sign in newest for sign in NOT_THERE_YET):
        return None
    return PAUSES[len(errors) - 1] if len(errors) <= len(PAUSES) else LAST_PAUSE


async def try_again(args: pulumi.ErrorHookArgs) -> bool:
    """The engine's question after a failed attempt: waits, and says whether to go on."""
    seconds = pause(args.failed_operation, args.errors)
    if seconds is None:
        return False
    pulumi.log.info(f"GKE has not made the GatewayClass yet, trying again in {seconds} s")
    await asyncio.sleep(seconds)
    return True
