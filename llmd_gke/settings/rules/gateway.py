"""Rules about the edge."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.checks.finding import Finding
from llmd_gke.settings.rules.located import Located
from llmd_gke.settings.shapes import StackSettings


def gateway(settings: StackSettings) -> Iterator[Located]:
    """Plain HTTP on the Internet only for those who ask for it, and then with a warning."""
    edge = settings.gateway
    if edge.exposure != "external":
        return
    if not edge.allow_plain_http:
        finding = Finding(
            "plain-http",
            "an external gateway would serve plain HTTP without authentication to the Internet",
            allowed="exposure: internal, or allowPlainHttp: true if that is what you want",
            fix="pulumi config set --path llmd-gke:gateway.exposure internal",
        )
        yield Located("llmd-gke:gateway.exposure", edge.exposure, finding)
    else:
        finding = Finding(
            "plain-http",
            "the gateway serves plain HTTP without authentication to the Internet, as allowPlainHttp asks",
            fix="use it for trials only",
            severity="warning",
        )
        yield Located("llmd-gke:gateway.allowPlainHttp", True, finding)
