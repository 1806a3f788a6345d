"""Certificates of HTTPS listeners as Envoy secrets.

A Secret of the cluster is used as it is. Certificates that Google would hold (Certificate Manager, pre-shared SSL
certificates) are not here: one is made for the listener's domain, signed by itself, and kept as long as it is valid.
"""

from __future__ import annotations

import base64
import binascii
import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from llmd_common.kubernetes.fields import text
from localcloud.gke_gateway.envoy.common import typed
from localcloud.providers.protocol.values import JsonObject

VALID_DAYS = 90
"""Days for which a certificate is valid, as Google's are (https://cloud.google.com/certificate-manager/docs/certificates)."""


def from_secret(name: str, secret: JsonObject) -> JsonObject | None:
    """The Envoy secret of a Secret of type kubernetes.io/tls; ``None`` where it holds no certificate and key."""
    try:
        chain, key = (base64.b64decode(text(secret, "data", entry)) for entry in ("tls.crt", "tls.key"))
        serialization.load_pem_private_key(key, None)
        x509.load_pem_x509_certificates(chain)
    except (ValueError, TypeError, binascii.Error):
        return None
    return envoy_secret(name, chain.decode(), key.decode())


def envoy_secret(name: str, chain: str, key: str) -> JsonObject:
    """A certificate chain and its key (PEM) under a name."""
    return {
        **typed("envoy.extensions.transport_sockets.tls.v3.Secret"),
        "name": name,
        "tls_certificate": {"certificate_chain": {"inline_string": chain}, "private_key": {"inline_string": key}},
    }


def self_signed(name: str, domain: str, folder: Path) -> JsonObject:
    """A certificate for a domain (empty: any), kept in the folder until it has less than a day left."""
    chain_file, key_file = folder / f"{name}.pem", folder / f"{name}.key"
    if not (key_file.is_file() and chain_file.is_file() and _fits(chain_file.read_bytes(), domain)):
        chain, key = make(x509.DNSName(domain or "gateway.invalid"))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        key_file.touch(mode=0o600)
        key_file.write_bytes(key)
        chain_file.write_bytes(chain)
    return envoy_secret(name, chain_file.read_text(), key_file.read_text())


def _fits(chain: bytes, domain: str) -> bool:
    certificate = x509.load_pem_x509_certificate(chain)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    left = certificate.not_valid_after_utc - datetime.datetime.now(datetime.UTC)
    return (domain or "gateway.invalid") in names.get_values_for_type(x509.DNSName) and left > datetime.timedelta(1)


def make(*names: x509.GeneralName) -> tuple[bytes, bytes]:
    """A certificate for these names, which clients can take as an authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, str(names[0].value)[:64])])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=VALID_DAYS))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    return (
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain),
    )
