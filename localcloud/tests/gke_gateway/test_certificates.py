"""HTTPS at the Gateway: certificates of Secrets, and made ones where Google would hold them."""

from __future__ import annotations

import base64
import socket
import ssl
from pathlib import Path

from cryptography import x509

from llmd_common.kubernetes.fields import text
from localcloud.gke_gateway.certificates import from_secret, self_signed
from localcloud.providers.protocol.values import JsonObject, JsonValue
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


def https(port: int, **tls: JsonValue) -> JsonObject:
    listener: JsonObject = {"name": "https", "port": port, "protocol": "HTTPS", "hostname": "llm.example.com"}
    return b.gateway(listeners=[{**listener, "tls": {"mode": "Terminate", **tls}}])


def test_a_renewed_secret_is_shown_without_a_restart(lab: Lab, tmp_path: Path) -> None:
    gateway = https(lab.port, certificateRefs=[{"name": "certificate"}])
    lab.apply(gateway, secret(tmp_path, "certificate", "first.example.com"))
    eventually(lambda: presented(lab, "llm.example.com") == "first.example.com")
    lab.apply(gateway, secret(tmp_path, "certificate", "second.example.com"))
    eventually(lambda: presented(lab, "llm.example.com") == "second.example.com")
    assert presented(lab, "llm.example.com") == "second.example.com", "it stays"


def test_a_certificate_that_google_would_hold_is_made_for_the_domain(lab: Lab) -> None:
    lab.apply(https(lab.port, options={"networking.gke.io/cert-manager-certs": "llm"}))
    eventually(lambda: presented(lab, "llm.example.com") == "llm.example.com")
    assert presented(lab, "llm.example.com") == "llm.example.com", "it stays"


def test_a_made_certificate_is_kept_until_the_domain_changes(tmp_path: Path) -> None:
    first = self_signed("one", "a.example.com", tmp_path)
    assert self_signed("one", "a.example.com", tmp_path) == first
    assert self_signed("one", "b.example.com", tmp_path) != first
    assert (tmp_path / "one.key").stat().st_mode & 0o077 == 0


def test_a_secret_without_a_usable_key_is_told_apart(tmp_path: Path) -> None:
    good = secret(tmp_path, "certificate", "llm.example.com")
    assert from_secret("x", good) is not None
    assert from_secret("x", {**good, "data": {"tls.crt": text(good, "data", "tls.crt"), "tls.key": "bm8="}}) is None
    assert from_secret("x", {**good, "data": {}}) is None


def test_files_with_keys_are_readable_by_their_owner_only(lab: Lab, tmp_path: Path) -> None:
    gateway = https(lab.port, certificateRefs=[{"name": "certificate"}])
    lab.apply(gateway, secret(tmp_path, "certificate", "first.example.com"))
    files = [*lab.files.certificates.iterdir()]
    assert len(files) == 1
    assert [file.stat().st_mode & 0o077 for file in files] == [0]
