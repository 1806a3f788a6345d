"""The edge."""

from __future__ import annotations

from typing import Literal

from llmd_gke.settings.shapes.base import Shape


class GatewaySettings(Shape):
    """The edge. Internal unless said otherwise; external without HTTPS must be wished for explicitly."""

    exposure: Literal["internal", "external"] = "internal"
    """Reachable from the VPC or from the Internet. ``allow_plain_http`` admits an external gateway without HTTPS: a
    trial."""
    allow_plain_http: bool = False
