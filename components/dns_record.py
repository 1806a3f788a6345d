"""The DNS record of the gateway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pulumi
from pulumi_gcp import dns

from components.fresh_apis import patient
from components.network import Network
from llmd_gke.settings import StackSettings


@dataclass(frozen=True, kw_only=True)
class DnsRecordArgs:
    """``zone`` is the name of an existing Cloud DNS zone, ``domain`` a name in it, ``gateway_ip`` the gateway's
    reserved address.
    """

    zone: str
    domain: str
    ttl_seconds: int
    gateway_ip: pulumi.Output[str]

    @classmethod
    def of(cls, settings: StackSettings, *, network: Network) -> Self | None:
        """Those of a stack with a domain and the zone that it is in."""
        gateway = settings.gateway
        if gateway.domain is None or gateway.dns_zone is None:
            return None
        return cls(
            zone=gateway.dns_zone,
            domain=gateway.domain,
            ttl_seconds=gateway.dns_ttl_seconds,
            gateway_ip=network.gateway_ip,
        )


class DnsRecord(pulumi.ComponentResource):
    """``llmd-gke:edge:DnsRecord``: the A record of the gateway's domain in an existing Cloud DNS zone.

    It depends only on the reserved address, so the name resolves long before the Gateway serves.
    """

    def __init__(self, name: str, args: DnsRecordArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:edge:DnsRecord", name, None, opts)
        dns.RecordSet(
            f"{name}-address",
            managed_zone=args.zone,
            name=f"{args.domain}.",
            type="A",
            ttl=args.ttl_seconds,
            rrdatas=[args.gateway_ip],
            opts=pulumi.ResourceOptions(parent=self, hooks=patient(f"{name}-address")),
        )
        self.register_outputs({})
