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
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from llmd_common.kubernetes.fields import Object, namespace, text
from localcloud.common import https
from localcloud.common.https import GetResponse
from localcloud.linux_namespaces.addresses import GOOGLE_APIS, METADATA_SERVER
from localcloud.monitoring import prometheus
from localcloud.product import READER_ROLE
from localcloud.providers.protocol.values import JsonObject, objects, texts

TOKEN_SECONDS = 3600
ANSWER_SECONDS = 30.0
FLAVOR = "Metadata-Flavor"
TOKEN_PATH = "/computeMetadata/v1/instance/service-accounts/default/token"  # noqa: S105 - a path
QUERY_PATH = re.compile(r"/v1/projects/([^/]+)/location/global/prometheus(/api/v1/.+)")

Account = tuple[str, str]
"""Namespace and name of a Kubernetes service account."""


def refused(status: int, reason: str, message: str) -> GetResponse:
    """An error as Google's APIs write it."""
    return GetResponse(status, json.dumps({"error": {"code": status, "message": message, "status": reason}}).encode())


@dataclass
class QueryApi:
    """``records`` reads what the Google provider has made: resources and IAM policies."""

    records: Callable[[], JsonObject]
    ask: Callable[[str], GetResponse] = field(default=lambda path: _ask_prometheus(path))
    _accounts: Mapping[str, Account] = field(default_factory=dict[str, Account])
    _tokens: dict[str, Account] = field(default_factory=dict[str, Account])

    def show(self, pods: Iterable[Object]) -> None:
        """Takes over which address has which service account."""
        self._accounts = {
            address: (namespace(pod), text(pod, "spec", "serviceAccountName"))
            for pod in pods
            if (address := text(pod, "status", "podIP")) and text(pod, "status", "phase") in ("Pending", "Running")
        }

    def metadata(self, path: str, caller: str, headers: Mapping[str, str]) -> GetResponse:
        """The metadata server's answer to a pod with the address ``caller``."""
        if headers.get(FLAVOR) != "Google":
            return GetResponse(403, b"Missing Metadata-Flavor:Google header.\n", "text/html")
        if urlsplit(path).path != TOKEN_PATH:
            return GetResponse(200 if path in ("", "/") else 404, b"", "application/text")
        account = self._accounts.get(caller)
        if account is None:
            return GetResponse(404, f"no pod has the address {caller}\n".encode(), "application/text")
        token = secrets.token_urlsafe(32)
        self._tokens[token] = account
        answer = {"access_token": token, "expires_in": TOKEN_SECONDS, "token_type": "Bearer"}
        return GetResponse(200, json.dumps(answer).encode())

    def query(self, path: str, headers: Mapping[str, str]) -> GetResponse:
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
        headers = {FLAVOR: "Google"}
        servers = [
            https.serve(metadata, lambda path, caller, given: self.metadata(path, caller, given), None, headers),
            https.serve(apis, lambda path, _, given: self.query(path, given), https.tls(certificate), headers),
        ]

        def close() -> None:
            for one in servers:
                one.shutdown()
                one.server_close()

        return close


def may_read(records: JsonObject, project: str, account: Account) -> bool:
    """Whether the account has the role on the project, as a principal of Workload Identity."""
    space, name = account
    subject = f".svc.id.goog/subject/ns/{space}/sa/{name}"
    return any(
        member.endswith(subject)
        for binding in objects(records, "policies", f"projects/{project}", "bindings")
        if binding.get("role") == READER_ROLE
        for member in texts(binding, "members")
    )


def _ask_prometheus(path: str) -> GetResponse:
    try:
        with httpx.Client(timeout=ANSWER_SECONDS, trust_env=False) as client:
            answer = client.get(f"{prometheus.URL}{path}")
    except httpx.TransportError as error:
        return refused(503, "UNAVAILABLE", f"Prometheus does not answer: {error}")
    return GetResponse(answer.status_code, answer.content)
