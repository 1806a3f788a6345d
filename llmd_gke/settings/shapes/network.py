"""The network."""

from __future__ import annotations

from llmd_gke.settings.shapes.base import Cidr, Shape


class NetworkSettings(Shape):
    """IPv4 ranges of the VPC. The proxy-only range is what GKE's regional gateways send requests from."""

    nodes: Cidr = "10.0.0.0/20"
    """Range of the nodes."""
    pods: Cidr = "10.4.0.0/14"
    """Secondary range of the pods."""
    services: Cidr = "10.8.0.0/20"
    """Secondary range of the Services. ``proxies`` is the range of the proxy-only subnet."""
    proxies: Cidr = "10.9.0.0/23"
