"""The edge."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from llmd_gke.settings.sections.base import Shape, Word


class TlsSettings(Shape):
    """Where the gateway's certificate comes from: exactly one of the three.

    ``certificate_manager``: names of *regional* Certificate Manager certificates. ``pre_shared_certificates``: names of
    regional SSL certificates of Compute Engine. ``from_config``: a Secret that the program makes from the
    configuration's secrets ``llmd-gke:tlsCertificate`` and ``llmd-gke:tlsKey`` (PEM). ``minimum_version`` and
    ``profile`` become a regional SSL policy; ``None`` leaves Google's default (TLS 1.0, COMPATIBLE).
    """

    certificate_manager: tuple[str, ...] = Field(default=(), strict=False)
    pre_shared_certificates: tuple[str, ...] = Field(default=(), strict=False)
    from_config: bool = False
    minimum_version: Literal["1.0", "1.1", "1.2"] | None = "1.2"
    profile: Literal["COMPATIBLE", "MODERN", "RESTRICTED"] = "MODERN"


class GatewaySettings(Shape):
    """The edge. Internal unless said otherwise; external without HTTPS must be wished for explicitly.

    ``domain``: the only host name that is served (default: any, by address). ``dns_zone``: name of an existing Cloud
    DNS zone of the project, where the program makes the domain's A record. ``dns_ttl_seconds``: of that record.
    ``redirect_http``: port 80 answers with a redirect to HTTPS (default: it is closed once ``tls`` is set).
    ``allow_global_access``: clients of other regions may use an internal gateway.
    """

    exposure: Literal["internal", "external"] = "internal"
    """Reachable from the VPC or from the Internet. ``allow_plain_http`` admits an external gateway without HTTPS: a
    trial."""
    allow_plain_http: bool = False
    tls: TlsSettings | None = None
    domain: str | None = None
    redirect_http: bool = False
    allow_global_access: bool = False
    dns_zone: Word | None = None
    dns_ttl_seconds: Annotated[int, Field(ge=1, le=86400)] = 300

    @property
    def scheme(self) -> Literal["http", "https"]:
        """What clients speak with the gateway."""
        return "http" if self.tls is None else "https"
