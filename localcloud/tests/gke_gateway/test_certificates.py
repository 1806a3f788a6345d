"""HTTPS at the Gateway: a certificate of a Secret."""

from __future__ import annotations

import base64
import socket
import ssl
from pathlib import Path

from cryptography import x509

from localcloud.gke_gateway.certificates import self_signed
from localcloud.providers.protocol.values import JsonObject
from localcloud.tests.gke_gateway import builders as b
from localcloud.tests.gke_gateway.lab import ADDRESS, Lab
from tests.waiting import eventually


def secret(folder: Path, name: str, domain: str) -> JsonObject:
    self_signed(name, domain, folder)
    chain, key = ((folder / f"{name}.{end}").read_bytes() for end in ("pem", "key"))
    encoded: JsonObject = {"tls.crt": base64.b64encode(chain).decode(), "tls.key": base64.b64encode(key).decode()}
    return b.obj("Secret", name, data=encoded)


def presented(lab: Lab, domain: str) -> str:
    """The domain of the certificate that the Gateway shows, empty where it shows none."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((ADDRESS, lab.port), 5) as plain,
            context.wrap_socket(plain, server_hostname=domain) as wrapped,
        ):
            certificate = x509.load_der_x509_certificate(wrapped.getpeercert(binary_form=True) or b"")
    except OSError:
        return ""
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return names.get_values_for_type(x509.DNSName)[0]


def test_a_renewed_secret_is_shown_without_a_restart(lab: Lab, tmp_path: Path) -> None:
    tls: JsonObject = {"mode": "Terminate", "certificateRefs": [{"name": "certificate"}]}
    listener: JsonObject = {"name": "https", "port": lab.port, "protocol": "HTTPS", "hostname": "llm.example.com"}
    gateway = b.gateway(listeners=[{**listener, "tls": tls}])
    lab.apply(gateway, secret(tmp_path, "certificate", "first.example.com"))
    eventually(lambda: presented(lab, "llm.example.com") == "first.example.com")
    lab.apply(gateway, secret(tmp_path, "certificate", "second.example.com"))
    eventually(lambda: presented(lab, "llm.example.com") == "second.example.com")
    assert presented(lab, "llm.example.com") == "second.example.com", "it stays"
    (file,) = lab.files.certificates.iterdir()
    assert file.stat().st_mode & 0o077 == 0, "its key is the owner's only"
