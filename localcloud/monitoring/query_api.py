"""Google's Prometheus API and the metadata server, for pods that read metrics as KEDA does on GKE.

A pod asks the metadata server for a token of its service account, and sends it to ``monitoring.googleapis.com``, which
answers out of the real Prometheus: ``/v1/projects/PROJECT/location/global/prometheus/api/v1/...``. Refused as by
Google: a request without a token (401), and one of an account without ``roles/monitoring.viewer`` on the project (403).

Sources: https://cloud.google.com/stackdriver/docs/managed-prometheus/query-api-ui,
https://cloud.google.com/compute/docs/metadata/querying-metadata,
https://cloud.google.com/kubernetes-engine/docs/concepts/workload-identity. Not imitated: every other API, identity
tokens, and the delay of some seconds until Google's own store has a sample.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import httpx

from llmd_gke.catalog.scaling import READER_ROLE
from localcloud.kubernetes.fields import Object, namespace, text
from localcloud.linux_namespaces.addresses import GOOGLE_APIS, METADATA_SERVER
from localcloud.monitoring import prometheus
from localcloud.providers.google.projects import IAM_MEMBER
from localcloud.providers.protocol.values import JsonObject, dig, objects, texts

log = logging.getLogger(__name__)

TOKEN_SECONDS = 3600
ANSWER_SECONDS = 30.0
FLAVOR = "Metadata-Flavor"
TOKEN_PATH = "/computeMetadata/v1/instance/service-accounts/default/token"  # noqa: S105 - a path
QUERY_PATH = re.compile(r"/v1/projects/([^/]+)/location/global/prometheus(/api/v1/.+)")

Account = tuple[str, str]
"""Namespace and name of a Kubernetes service account."""


@dataclass
class QueryAnswer:
    """What a server answers with."""

    status: int
    content: bytes
    content_type: str = "application/json"


def refused(status: int, reason: str, message: str) -> QueryAnswer:
    """An error as Google's APIs write it."""
    return QueryAnswer(status, json.dumps({"error": {"code": status, "message": message, "status": reason}}).encode())


@dataclass
class QueryApi:
    """``records`` reads what the Google provider has made: resources and IAM policies."""

    records: Callable[[], JsonObject]
    ask: Callable[[str], QueryAnswer] = field(default=lambda path: _ask_prometheus(path))
    _accounts: Mapping[str, Account] = field(default_factory=dict[str, Account])
    _tokens: dict[str, Account] = field(default_factory=dict[str, Account])

    def show(self, pods: Iterable[Object]) -> None:
        """Takes over which address has which service account."""
        self._accounts = {
            address: (namespace(pod), text(pod, "spec", "serviceAccountName"))
            for pod in pods
            if (address := text(pod, "status", "podIP")) and text(pod, "status", "phase") in ("Pending", "Running")
        }

    def metadata(self, path: str, caller: str, headers: Mapping[str, str]) -> QueryAnswer:
        """The metadata server's answer to a pod with the address ``caller``."""
        if headers.get(FLAVOR) != "Google":
            return QueryAnswer(403, b"Missing Metadata-Flavor:Google header.\n", "text/html")
        if urlsplit(path).path != TOKEN_PATH:
            return QueryAnswer(200 if path in ("", "/") else 404, b"", "application/text")
        account = self._accounts.get(caller)
        if account is None:
            return QueryAnswer(404, f"no pod has the address {caller}\n".encode(), "application/text")
        token = secrets.token_urlsafe(32)
        self._tokens[token] = account
        answer = {"access_token": token, "expires_in": TOKEN_SECONDS, "token_type": "Bearer"}
        return QueryAnswer(200, json.dumps(answer).encode())

    def query(self, path: str, headers: Mapping[str, str]) -> QueryAnswer:
        """The answer of ``monitoring.googleapis.com``."""
        kind, _, token = headers.get("Authorization", "").partition(" ")
        account = self._tokens.get(token) if kind == "Bearer" else None
        if account is None:
            return refused(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
        match = QUERY_PATH.fullmatch(path)
        if match is None:
            return refused(404, "NOT_FOUND", f"The laptop cloud serves only {QUERY_PATH.pattern}.")
        if not may_read(self.records(), match[1], account):
            return refused(
                403,
                "PERMISSION_DENIED",
                f"Permission monitoring.timeSeries.list denied on project {match[1]} for the service account "
                f"{'/'.join(account)}. Fix: grant it {READER_ROLE}.",
            )
        return self.ask(match[2])

    def serve(
        self,
        certificate: Path,
        metadata: tuple[str, int] = (METADATA_SERVER, 80),
        apis: tuple[str, int] = (GOOGLE_APIS, 443),
    ) -> Callable[[], None]:
        """Listens on both addresses until the returned function is called. Raises ``OSError``.

        ``certificate``: the path of certificate and key without ``.crt`` and ``.key``.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.with_suffix(".crt"), certificate.with_suffix(".key"))
        servers = [
            _server(metadata, lambda path, caller, headers: self.metadata(path, caller, headers)),
            _server(apis, lambda path, _, headers: self.query(path, headers), context),
        ]
        for one in servers:
            threading.Thread(target=one.serve_forever, daemon=True).start()

        def close() -> None:
            for one in servers:
                one.shutdown()
                one.server_close()

        return close


def may_read(records: JsonObject, project: str, account: Account) -> bool:
    """Whether the account has the role on the project, as a principal of Workload Identity.

    The emulator keeps policies, the hand-written provider the members that it was given.
    """
    space, name = account
    subject = f".svc.id.goog/subject/ns/{space}/sa/{name}"
    return any(member.endswith(subject) for member in (*_bound(records, project), *_given(records, project)))


def _bound(records: JsonObject, project: str) -> Iterator[str]:
    for binding in objects(records, "policies", f"projects/{project}", "bindings"):
        if binding.get("role") == READER_ROLE:
            yield from texts(binding, "members")


def _given(records: JsonObject, project: str) -> Iterator[str]:
    members = dig(records, "objects", IAM_MEMBER)
    for record in members.values() if isinstance(members, dict) else ():
        if (dig(record, "inputs", "project"), dig(record, "inputs", "role")) == (project, READER_ROLE):
            yield str(dig(record, "inputs", "member"))


def _ask_prometheus(path: str) -> QueryAnswer:
    try:
        with httpx.Client(timeout=ANSWER_SECONDS, trust_env=False) as client:
            answer = client.get(f"{prometheus.URL}{path}")
    except httpx.TransportError as error:
        return refused(503, "UNAVAILABLE", f"Prometheus does not answer: {error}")
    return QueryAnswer(answer.status_code, answer.content)


def _server(
    address: tuple[str, int],
    answer: Callable[[str, str, Mapping[str, str]], QueryAnswer],
    context: ssl.SSLContext | None = None,
) -> ThreadingHTTPServer:
    class QueryHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = ANSWER_SECONDS

        def setup(self) -> None:
            # Here, in the connection's own thread: a client that says nothing must not hold up others.
            if context:
                self.request = context.wrap_socket(self.request, server_side=True)
            super().setup()

        def do_GET(self) -> None:
            """Answers a request."""
            made = answer(self.path, str(self.client_address[0]), cast("Mapping[str, str]", self.headers))
            self.send_response(made.status)
            self.send_header(FLAVOR, "Google")
            self.send_header("Content-Type", made.content_type)
            self.send_header("Content-Length", str(len(made.content)))
            self.end_headers()
            self.wfile.write(made.content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """KEDA asks every few seconds."""

    return ThreadingHTTPServer(address, QueryHandler)
