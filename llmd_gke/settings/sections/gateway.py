"""Settings of the gateway and its HTTPS."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from llmd_gke.gateways.gateway import Proxies
from llmd_gke.gateways.proxies import PROXIES
from llmd_gke.settings.sections.base import Section, Word
from llmd_gke.settings.sections.existing import ExistingGatewaySettings


class TlsSettings(Section):
    """HTTPS of the gateway. The certificate comes from exactly one of ``certificate_manager``,
    ``pre_shared_certificates``, ``from_config`` and ``issuer``.
    """

    certificate_manager: tuple[str, ...] = Field(default=(), strict=False)
    """Names of *regional* Certificate Manager certificates of the project (default: none)."""
    pre_shared_certificates: tuple[str, ...] = Field(default=(), strict=False)
    """Names of *regional* SSL certificates of Compute Engine (default: none)."""
    from_config: bool = False
    """Create a Secret from the stack's secrets ``llmd-gke:tlsCertificate`` and ``llmd-gke:tlsKey``, both PEM (default:
    false)."""
    issuer: Word | None = None
    """Name of a ClusterIssuer of cert-manager, which makes the certificate of ``domain`` (default: none)."""
    minimum_version: Literal["1.0", "1.1", "1.2"] | None = "1.2"
    """Minimum TLS version of the regional SSL policy (default: 1.2); with ``None`` there is no SSL policy, and
    Google's default applies (TLS 1.0, COMPATIBLE)."""
    profile: Literal["COMPATIBLE", "MODERN", "RESTRICTED"] = "MODERN"
    """Cipher profile of the regional SSL policy (default: ``MODERN``)."""


class MeshSettings(Section):
    """Servers as part of Istio's mesh."""

    mtls: Literal["permissive"] = "permissive"
    """``permissive`` (default): the Gateway's requests are encrypted and its identity is checked; metrics and health
    stay readable without. STRICT would hide the servers' load from the endpoint picker."""


class GatewaySettings(Section):
    """The gateway in front of all models: internal by default, without HTTPS unless ``tls`` is set."""

    implementation: Literal["gke", "istio"] = Field(default="gke", alias="class")
    """Whose Gateway it is: ``gke`` (default) is Google's application load balancer; ``istio`` runs Istio's proxies in
    the cluster, behind a passthrough load balancer, see ``docs/edge.md``."""
    existing: ExistingGatewaySettings | None = None
    """Use an existing Gateway (default: the program creates one), see ``docs/existing.md``."""
    mesh: MeshSettings | None = None
    """Give model servers a sidecar of Istio, so that only the Gateway's identity may send requests (default: no
    sidecar, NetworkPolicies alone); only with ``class: istio``."""
    exposure: Literal["internal", "external"] = "internal"
    """Reachable from the VPC (``internal``, default) or from the Internet (``external``)."""
    allow_plain_http: bool = False
    """Allow an external gateway without HTTPS, for trials only (default: false)."""
    open: bool = False
    """Let everyone on the Internet use the models, without keys, tokens or limits (default: false: an external gateway
    needs ``llmd-gke:frontDoor``)."""
    tls: TlsSettings | None = None
    """HTTPS and its certificate (default: plain HTTP on port 80)."""
    domain: str | None = None
    """The only host name that is served (default: any, by address)."""
    redirect_http: bool = False
    """Answer on port 80 with a redirect to HTTPS (default: port 80 is closed once ``tls`` is set)."""
    allow_global_access: bool = False
    """Let clients in other regions of the VPC use an internal gateway (default: false)."""
    dns_zone: Word | None = None
    """Name of an existing Cloud DNS zone of the project, in which the program creates the A record of ``domain``
    (default: no record)."""
    dns_ttl_seconds: Annotated[int, Field(ge=1, le=86400)] = 300
    """TTL of the A record in seconds (default: 300)."""

    @property
    def is_googles(self) -> bool:
        """Whether Google's own load balancer serves the Gateway, not proxies in the cluster."""
        return self.implementation == "gke"

    @property
    def is_istio(self) -> bool:
        """Whether Istio's proxies serve the Gateway."""
        return self.implementation == "istio"

    @property
    def proxies(self) -> Proxies | None:
        """What the Gateway's proxies show; ``None`` if they are not pods of the cluster."""
        return PROXIES.get(self.implementation)

    @property
    def scheme(self) -> Literal["http", "https"]:
        """The scheme of the models' URLs."""
        if self.existing is not None:
            return "https" if self.existing.https else "http"
        return "http" if self.tls is None else "https"
