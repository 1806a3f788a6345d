"""The network."""

from __future__ import annotations

from llmd_gke.settings.shapes.base import Cidr, Shape


class NetworkSettings(Shape):
    """IPv4 ranges of the VPC. The proxy-only range is what GKE's regional gateways send requests from."""

    nodes: Cidr = "10.0.0.0/20"
    pods: Cidr = "10.4.0.0/14"
    services: Cidr = "10.8.0.0/20"
    proxies: Cidr = "10.9.0.0/23"
