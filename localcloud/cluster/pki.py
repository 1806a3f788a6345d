"""Keys, certificates and tokens of a cluster: created once, and kept as long as etcd's data."""

from __future__ import annotations

import ipaddress
import json
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from localcloud.common.files import write
from localcloud.common.layout import Layout
from localcloud.linux_namespaces.addresses import (
    API_SERVICE,
    CONTROL_PLANE,
    DNS_ENDPOINT,
    GOOGLE_NAMES,
    METRICS_ADAPTER_NAME,
    POD_RANGE,
    SERVICE_RANGE,
)

VALID = timedelta(days=365)

NAMES = (
    DNS_ENDPOINT,
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "localhost",
)
ADDRESSES = (CONTROL_PLANE, API_SERVICE, "127.0.0.1")

FRONT_PROXY = "front-proxy-client"
ADMIN, USER = "admin", "user"
USERS: dict[str, tuple[str, Sequence[str]]] = {
    ADMIN: ("laptop-admin", ["system:masters"]),
    # The user that runs the program: like IAM's Kubernetes Engine Admin, it may do everything in a cluster.
    USER: ("user@laptop", ["system:masters"]),
    "kube-controller-manager": ("system:kube-controller-manager", []),
    "kube-scheduler": ("system:kube-scheduler", []),
}
"""``NAME-token`` is the file: user and groups. RBAC's default roles are bound to them
(https://kubernetes.io/docs/reference/access-authn-authz/rbac/#core-component-roles)."""


def prepare(layout: Layout) -> None:
    """Creates missing files; an incomplete set, from an interrupted start, is created again."""
    layout.pki.mkdir(parents=True, exist_ok=True)
    layout.pki.chmod(0o700)
    complete = layout.pki / "complete"
    if not complete.exists():
        _certificates(layout)
        _service_account_key(layout)
        _tokens(layout)
        complete.touch()
    _server(layout, layout.google_apis, "googleapis.com", tuple(GOOGLE_NAMES))
    _server(layout, layout.metrics_adapter, METRICS_ADAPTER_NAME, (METRICS_ADAPTER_NAME,))
    authority = layout.authority.read_text()
    for component in USERS:
        target = layout.kubeconfig if component == ADMIN else layout.kubeconfig_of(component)
        token = layout.token(component).read_text()
        write(target, kubeconfig(CONTROL_PLANE, layout.authority, component, token), 0o600)
    facts = {
        "endpoint": CONTROL_PLANE,
        "dnsEndpoint": DNS_ENDPOINT,
        "caCertificate": authority,
        "clusterIpv4Cidr": POD_RANGE,
        "servicesIpv4Cidr": SERVICE_RANGE,
    }
    write(layout.facts, json.dumps(facts, indent=2) + "\n", 0o644)


def kubeconfig(host: str, authority: Path, user: str, token: str) -> str:
    """A kubeconfig for one user with a bearer token, as JSON, which is YAML."""
    cluster = {"server": f"https://{host}", "certificate-authority": str(authority)}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "laptop", "cluster": cluster}],
        "contexts": [{"name": "laptop", "context": {"cluster": "laptop", "user": user}}],
        "current-context": "laptop",
        "users": [{"name": user, "user": {"token": token}}],
    }
    return json.dumps(content, indent=2) + "\n"


def _certificates(layout: Layout) -> None:
    key, authority = _authority(layout, "ca", "laptop-cluster-ca")
    server_names: list[x509.GeneralName] = [x509.DNSName(name) for name in NAMES]
    server_names += [x509.IPAddress(ipaddress.ip_address(address)) for address in ADDRESSES]
    for name, subject, groups in (
        ("apiserver", "kube-apiserver", []),
        # The API server's client certificate for kubelets: logs, exec.
        ("apiserver-kubelet-client", "kube-apiserver-kubelet-client", ["system:masters"]),
    ):
        own = ec.generate_private_key(ec.SECP256R1())
        names = server_names if name == "apiserver" else []
        _store(layout.pki / name, own, _signed(own, subject, key, issuer=authority, names=names, groups=groups))
    # The API server's certificate for proxying users to other API servers; components read its CA at their start
    # (https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/).
    key, authority = _authority(layout, "front-proxy-ca", "laptop-front-proxy-ca")
    own = ec.generate_private_key(ec.SECP256R1())
    _store(layout.pki / FRONT_PROXY, own, _signed(own, FRONT_PROXY, key, issuer=authority))


def _server(layout: Layout, target: Path, subject: str, names: Sequence[str]) -> None:
    """A server's certificate for some names, by the cluster's authority, unless it exists."""
    if target.with_suffix(".crt").exists():
        return
    authority = x509.load_pem_x509_certificate(layout.authority.read_bytes())
    signer = serialization.load_pem_private_key((layout.pki / "ca.key").read_bytes(), None)
    if not isinstance(signer, ec.EllipticCurvePrivateKey):
        raise TypeError("the authority's key is not one of elliptic curves")
    own = ec.generate_private_key(ec.SECP256R1())
    listed = [x509.DNSName(name) for name in names]
    _store(target, own, _signed(own, subject, signer, issuer=authority, names=listed))


def _authority(layout: Layout, name: str, subject: str) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _signed(key, subject, key, issuer=None)
    _store(layout.pki / name, key, certificate)
    return key, certificate


def _signed(
    key: ec.EllipticCurvePrivateKey,
    subject: str,
    signer: ec.EllipticCurvePrivateKey,
    *,
    issuer: x509.Certificate | None,
    names: Sequence[x509.GeneralName] = (),
    groups: Sequence[str] = (),
) -> x509.Certificate:
    """A certificate for a year; without an issuer, one of an authority."""
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    name = x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, subject)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer.subject if issuer else name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + VALID)
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if issuer is not None:
        usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(signer, hashes.SHA256())


def _service_account_key(layout: Layout) -> None:
    # RSA, like GKE's own tokens: every verifier accepts RS256.
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    write(layout.pki / "sa.key", _pem(key), 0o600)


def _tokens(layout: Layout) -> None:
    lines: list[str] = []
    for file, (user, groups) in USERS.items():
        token = secrets.token_urlsafe(32)
        write(layout.token(file), token, 0o600)
        lines.append(f'{token},{user},{user},"{",".join(groups)}"\n')
    write(layout.pki / "tokens.csv", "".join(lines), 0o600)


def _store(path: Path, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
    write(path.with_suffix(".key"), _pem(key), 0o600)
    write(path.with_suffix(".crt"), certificate.public_bytes(serialization.Encoding.PEM).decode(), 0o644)


def _pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> str:
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()
