"""A server that stands in for Google's APIs, container registries and Hugging Face, for the tests of ``doctor``.

Paths and answers follow the published descriptions (https://cloud.google.com/compute/docs/reference/rest/v1 and its
neighbours for Kubernetes Engine, Service Usage, Resource Manager and Billing). ``faults`` answer in place of a path.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

PROJECT = "some-project"
ZONE = "europe-west4-a"


def error(
    status: int, message: str, reason: str = "forbidden", details: list[object] | None = None
) -> tuple[int, object]:
    """An error as Google's APIs give it."""
    errors = [{"message": message, "domain": "global", "reason": reason}]
    return status, {"error": {"code": status, "message": message, "errors": errors, "details": details or []}}


def api_off(api: str) -> tuple[int, object]:
    """What an API answers that is not enabled."""
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "SERVICE_DISABLED",
        "metadata": {"service": f"{api}.googleapis.com"},
    }
    return error(
        403, f"{api} API has not been used in project 1 before or it is disabled", "accessNotConfigured", [info]
    )


class Google:
    """One project that has everything ``eu4a`` needs. Tests change ``answers`` and ``faults`` before they ask.

    ``calls``: method and path of each request, ``heard``: path and headers.
    ``instances``: names of the TPU hosts that exist.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.instances: set[str] = set()
        self.bodies: list[dict[str, Any]] = []
        self.operation_error: list[dict[str, str]] = []
        self.faults: dict[str, tuple[int, object]] = {}
        self.held = threading.Event()
        self.hold: str | None = None
        self.states: dict[str, str] = {}
        self.machines = {(ZONE, "ct6e-standard-4t"), (ZONE, "e2-standard-4"), ("us-east5-a", "ct6e-standard-4t")}
        self.limit = "16"
        self.granted: set[str] | None = None
        self.versions = ["1.35.3-gke.1000000", "1.34.1-gke.2000000"]
        self.project: dict[str, object] = {"state": "ACTIVE"}
        self.billing = True
        self.quotas: dict[str, tuple[float, float]] = {}
        self.clusters: set[str] = set()
        self.networks: set[str] = set()
        self.subnets: Sequence[Mapping[str, object]] = []
        self.routers: Sequence[Mapping[str, object]] = []
        self.images_gone: set[str] = set()
        self.reservations: dict[str, dict[str, object]] = {}
        self.backends: dict[str, list[dict[str, str]]] = {}
        self.identities = {"gcloud-token": "me@example.com", "None": "me@example.com"}
        self.weights: dict[str, int] = {}
        self.digest: str | None = None
        self.heard: list[tuple[str, dict[str, str]]] = []

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: dict[str, Any]) -> tuple[int, object]:
        """Status and JSON of one request."""
        for pattern, fault in self.faults.items():
            if re.search(pattern, path):
                return fault
        for pattern, function in ROUTES:
            if found := re.fullmatch(pattern, path):
                return function(self, method, found.groupdict(), query, body)
        return error(404, f"no such path: {path}", "notFound")


Parts = Mapping[str, str]
Query = Mapping[str, list[str]]
NOT_FOUND = error(404, "The resource was not found", "notFound")


def _project(google: Google, method: str, parts: Parts, query: Query, body: dict[str, Any]) -> tuple[int, object]:
    return (200, google.project) if parts["project"] == PROJECT else error(403, "The caller does not have permission")


def _billing(google: Google, *_: object) -> tuple[int, object]:
    return 200, {"billingEnabled": google.billing}


def _services(google: Google, method: str, parts: Parts, query: Query, body: dict[str, Any]) -> tuple[int, object]:
    names = query["names"]
    return 200, {"services": [{"name": n, "state": google.states.get(n.rsplit("/")[-1], "ENABLED")} for n in names]}


def _permissions(google: Google, method: str, parts: Parts, query: Query, body: dict[str, Any]) -> tuple[int, object]:
    asked = body["permissions"]
    if len(asked) > 100:
        return error(400, "Too many permissions", "badRequest")
    return 200, {"permissions": [one for one in asked if google.granted is None or one in google.granted]}


def _server_config(google: Google, *_: object) -> tuple[int, object]:
    regular = {"channel": "REGULAR", "validVersions": google.versions}
    return 200, {"channels": [regular, {"channel": "RAPID", "validVersions": ["1.36.0-gke.1000000"]}]}


def _cluster(google: Google, method: str, parts: Parts, *_: object) -> tuple[int, object]:
    return (200, {"name": parts["name"]}) if parts["name"] in google.clusters else NOT_FOUND


def _zone(google: Google, method: str, parts: Parts, *_: object) -> tuple[int, object]:
    return (200, {"name": ZONE, "status": "UP"}) if parts["zone"] == ZONE else NOT_FOUND


def _machine(google: Google, method: str, parts: Parts, *_: object) -> tuple[int, object]:
    return (200, {"name": parts["name"]}) if (parts["zone"], parts["name"]) in google.machines else NOT_FOUND


def _machines(google: Google, method: str, parts: Parts, query: Query, body: dict[str, Any]) -> tuple[int, object]:
    name = query["filter"][0].removeprefix("name=")
    empty = {"warning": {"code": "NO_RESULTS_ON_PAGE"}}
    zones = {f"zones/{zone}": {"machineTypes": [{"name": name}]} for zone, one in google.machines if one == name}
    return 200, {"items": {"zones/asia-east1-a": empty, **zones}}


def _metric(google: Google, method: str, parts: Parts, *_: object) -> tuple[int, object]:
    family = {"region": "europe-west4", "tpu_family": "CT6E"}
    buckets = [{"effectiveLimit": "0", "defaultLimit": "0"}, {"effectiveLimit": google.limit, "dimensions": family}]
    return 200, {"consumerQuotaLimits": [{"unit": "1/{project}/{region}/{tpu_family}", "quotaBuckets": buckets}]}


def _quotas(google: Google, *_: object) -> tuple[int, object]:
    usual = dict.fromkeys(
        ("STATIC_ADDRESSES", "IN_USE_ADDRESSES", "HDB_TOTAL_GB", "SSD_TOTAL_GB", "NETWORKS"), (5000.0, 3.0)
    )
    usual |= google.quotas
    return 200, {"quotas": [{"metric": m, "limit": limit, "usage": used} for m, (limit, used) in usual.items()]}


def _made(google: Google, method: str, parts: Parts, query: Query, body: dict[str, Any]) -> tuple[int, object]:
    """A network or subnetwork, made or listed."""
    if method == "GET":
        return 200, {"items": google.subnets}
    google.bodies.append(body)
    google.networks.add(body["name"])
    return 200, {"name": f"insert-{body['name']}", "status": "RUNNING"}


def _reservation(google: Google, method: str, parts: Parts, *_: object) -> tuple[int, object]:
    found = google.reservations.get(parts["name"])
    return (200, found) if found else NOT_FOUND


def _subnet(google: Google, method: str, parts: Parts, *_: object) -> tuple[int, object]:
    return 200, {"name": f"delete-{parts['name']}", "status": "DONE"}


def _network(google: Google, method: str, parts: Parts, *_: object) -> tuple[int, object]:
    if method == "DELETE":
        google.networks.discard(parts["name"])
        return 200, {"name": f"delete-{parts['name']}", "status": "DONE"}
    return (200, {"name": parts["name"]}) if parts["name"] in google.networks else NOT_FOUND


def _routers(google: Google, *_: object) -> tuple[int, object]:
    return 200, {"items": google.routers} if google.routers else {}


def _insert(google: Google, method: str, parts: Parts, query: Query, body: dict[str, Any]) -> tuple[int, object]:
    google.bodies.append(body)
    google.instances.add(body["name"])
    return 200, {"name": f"insert-{body['name']}", "status": "RUNNING"}


def _delete(google: Google, method: str, parts: Parts, *_: object) -> tuple[int, object]:
    if parts["name"] not in google.instances:
        return NOT_FOUND
    google.instances.discard(parts["name"])
    return 200, {"name": f"delete-{parts['name']}", "status": "RUNNING"}


def _wait(google: Google, method: str, parts: Parts, *_: object) -> tuple[int, object]:
    done: dict[str, object] = {"name": parts["name"], "status": "DONE"}
    if parts["name"].startswith("insert-") and google.operation_error:
        # Compute Engine makes no instance in that case.
        google.instances.discard(parts["name"].removeprefix("insert-"))
        done["error"] = {"errors": google.operation_error}
    return 200, done


def _manifest(google: Google, method: str, parts: Parts, *_: object) -> tuple[int, object]:
    return (404, {}) if parts["path"] in google.images_gone else (200, {})


def _file(google: Google, method: str, parts: Parts, *_: object) -> tuple[int, object]:
    return google.weights.get(parts["name"], 200), {}


def _tokeninfo(google: Google, method: str, parts: Parts, query: Query, body: dict[str, Any]) -> tuple[int, object]:
    owner = google.identities.get(body["access_token"])
    return (200, {"email": owner, "email_verified": "true"}) if owner else (400, {"error_description": "Invalid Value"})


def _backend_services(google: Google, *_: object) -> tuple[int, object]:
    network = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/global/networks/"
    own = [
        {
            "name": name,
            "network": f"{network}llmd-eu4a",
            "backends": [{"group": f"zones/{ZONE}/networkEndpointGroups/{name}"}],
        }
        for name in google.backends
    ]
    return 200, {"items": [*own, {"name": "others", "network": f"{network}default", "backends": [{"group": "x"}]}]}


def _health(google: Google, method: str, parts: Parts, query: Query, body: dict[str, Any]) -> tuple[int, object]:
    return 200, {"healthStatus": google.backends[parts["name"]]}


V1 = r"/compute/compute/v1/projects/(?P<project>[^/]+)"
ROUTES = [
    (r"/oauth2/tokeninfo", _tokeninfo),
    (r"/cloudresourcemanager/v3/projects/(?P<project>[^/:]+)", _project),
    (r"/cloudresourcemanager/v3/projects/(?P<project>[^/]+):testIamPermissions", _permissions),
    (r"/cloudbilling/v1/projects/[^/]+/billingInfo", _billing),
    (r"/serviceusage/v1/projects/[^/]+/services:batchGet", _services),
    (r"/serviceusage/v1beta1/projects/[^/]+/services/[^/]+/consumerQuotaMetrics/(?P<metric>[^/]+)", _metric),
    (r"/container/v1/projects/[^/]+/locations/[^/]+/serverConfig", _server_config),
    (r"/container/v1/projects/[^/]+/locations/[^/]+/clusters/(?P<name>[^/]+)", _cluster),
    (V1 + r"/zones/(?P<zone>[^/]+)", _zone),
    (V1 + r"/zones/(?P<zone>[^/]+)/machineTypes/(?P<name>[^/]+)", _machine),
    (V1 + r"/aggregated/machineTypes", _machines),
    (V1 + r"/regions/[^/]+", _quotas),
    (V1, _quotas),
    (V1 + r"/global/networks/(?P<name>[^/]+)", _network),
    (V1 + r"/global/networks", _made),
    (V1 + r"/regions/[^/]+/subnetworks", _made),
    (V1 + r"/regions/[^/]+/subnetworks/(?P<name>[^/]+)", _subnet),
    (V1 + r"/zones/[^/]+/reservations/(?P<name>[^/]+)", _reservation),
    (V1 + r"/(?:global|regions/[^/]+)/operations/(?P<name>[^/]+)/wait", _wait),
    (V1 + r"/regions/[^/]+/routers", _routers),
    (V1 + r"/regions/[^/]+/backendServices", _backend_services),
    (V1 + r"/regions/[^/]+/backendServices/(?P<name>[^/]+)/getHealth", _health),
    (V1 + r"/zones/[^/]+/instances", _insert),
    (V1 + r"/zones/[^/]+/instances/(?P<name>[^/]+)", _delete),
    (V1 + r"/zones/[^/]+/operations/(?P<name>[^/]+)/wait", _wait),
    (r"/registry/[^/]+/v2/(?P<path>.+)/manifests/(?P<tag>[^/]+)", _manifest),
    (r"/hf/(?P<name>[^/]+/[^/]+)/resolve/main/config.json", _file),
]


@contextmanager
def serving(google: Google) -> Generator[str]:
    """Serves it on a free port of loopback and gives the base URL."""

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            url = urlsplit(self.path)
            length = int(self.headers.get("content-length") or 0)
            given = self.rfile.read(length).decode() if length else ""
            form = self.headers.get("content-type") == "application/x-www-form-urlencoded"
            body = dict(parse_qsl(given)) if form else json.loads(given or "{}")
            google.calls.append((self.command, url.path))
            google.heard.append((url.path, {name.lower(): value for name, value in self.headers.items()}))
            if google.hold and re.search(google.hold, url.path):
                google.held.wait(60)
            status, answer = google.answer(self.command, url.path, parse_qs(url.query), body)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            if google.digest and "/manifests/" in url.path:
                self.send_header("docker-content-digest", google.digest)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_POST = do_DELETE = do_HEAD = _serve  # noqa: N815 (names of the library)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's name)
            """Nothing on standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        google.held.set()
        server.shutdown()
        server.server_close()
        thread.join()
