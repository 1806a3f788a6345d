"""The gateway's name."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_gcp import dns

from llmd_gke.settings import StackSettings


@dataclass(frozen=True)
class DnsRecordArgs:
    """The settings must name a domain and a zone. ``gateway_ip`` is the gateway's reserved address."""

    settings: StackSettings
    gateway_ip: pulumi.Output[str]


class DnsRecord(pulumi.ComponentResource):
    """``llmd-gke:edge:DnsRecord``: the A record of the gateway's domain in an existing Cloud DNS zone.

    It needs nothing but the reserved address, so the name is known long before the Gateway serves.
    """

    def __init__(self, name: str, args: DnsRecordArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:edge:DnsRecord", name, None, opts)
        gateway = args.settings.gateway
        dns.RecordSet(
            f"{name}-address",
            managed_zone=gateway.dns_zone or "",
            name=f"{gateway.domain}.",
            type="A",
            ttl=gateway.dns_ttl_seconds,
            rrdatas=[args.gateway_ip],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})
