"""A certificate for Gateways that clients verify: for their addresses, signed by itself."""

from __future__ import annotations

import base64
import ipaddress
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509

from localcloud.gke_gateway import certificates
from localcloud.tests.real_kubernetes.objects import Object


def authority_and_secret(file: Path, namespace: str, addresses: Sequence[str]) -> Object:
    """Writes the certificate, which clients take as an authority, and returns the Secret for the Gateways."""
    chain, key = certificates.make(*(x509.IPAddress(ipaddress.ip_address(one)) for one in addresses))
    file.write_bytes(chain)
    encoded = {"tls.crt": base64.b64encode(chain).decode(), "tls.key": base64.b64encode(key).decode()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "certificate", "namespace": namespace},
        "type": "kubernetes.io/tls",
        "data": encoded,
    }
