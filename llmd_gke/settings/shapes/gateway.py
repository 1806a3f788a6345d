"""The edge."""

from __future__ import annotations

from typing import Literal

from llmd_gke.settings.shapes.base import Shape


class GatewaySettings(Shape):
    """The edge. Internal unless said otherwise; external without HTTPS must be wished for explicitly."""

    exposure: Literal["internal", "external"] = "internal"
    allow_plain_http: bool = False
