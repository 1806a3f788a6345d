"""Runs the adapter beside an API server, and registers it there as GKE does."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import ssl
import threading
from concurrent.futures import TimeoutError as Late
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from localcloud.common.layout import Layout
from localcloud.gke_gateway.crds.install import install_crds
from localcloud.kubernetes.client import SERVICES, Kube, Resource
from localcloud.kubernetes.fields import Object
from localcloud.linux_namespaces.addresses import METRICS_ADAPTER_NAME
from localcloud.metrics_adapter.answers import GROUP, VERSION, Adapter, AdapterAnswer, fetch
from localcloud.metrics_adapter.crd import definition

log = logging.getLogger(__name__)

MANAGER = "gke-metrics-adapter"
API_SERVICES = Resource("apiregistration.k8s.io/v1", "apiservices", namespaced=False)
HOST = "127.0.0.1"
ANSWER_SECONDS = 20.0


async def serve(kube: Kube, layout: Layout) -> None:
    """Installs the CRD, registers the adapter and answers until it is cancelled."""
    await install_crds(kube, [definition()])
    adapter = Adapter(kube, fetch)
    server = listen(adapter, layout.metrics_adapter, asyncio.get_running_loop())
    try:
        for resource, obj in registration(int(server.server_port), layout.authority.read_bytes()):
            await kube.apply(resource, obj, manager=MANAGER)
        log.info("the managed adapter of metrics answers")
        await asyncio.Event().wait()
    finally:
        server.shutdown()
        server.server_close()


def registration(port: int, authority: bytes) -> list[tuple[Resource, Object]]:
    """The Service that leads to the adapter, on the API server's own machine, and the APIService that names it."""
    service, _, rest = METRICS_ADAPTER_NAME.partition(".")
    space = rest.removesuffix(".svc")
    to: Object = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": service, "namespace": space},
        "spec": {"type": "ExternalName", "externalName": HOST},
    }
    api: Object = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{VERSION}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "version": VERSION,
            "service": {"name": service, "namespace": space, "port": port},
            "caBundle": base64.b64encode(authority).decode(),
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
        },
    }
    return [(SERVICES, to), (API_SERVICES, api)]


def listen(adapter: Adapter, certificate: Path, loop: asyncio.AbstractEventLoop) -> ThreadingHTTPServer:
    """Answers HTTPS on a free port of loopback, in threads. ``certificate``: its path without ``.crt`` and ``.key``."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.with_suffix(".crt"), certificate.with_suffix(".key"))

    class AdapterHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = ANSWER_SECONDS

        def setup(self) -> None:
            # Here, in the connection's own thread: a client that says nothing must not hold up others.
            self.request = context.wrap_socket(self.request, server_side=True)
            super().setup()

        def do_GET(self) -> None:
            """Answers a request."""
            made = asyncio.run_coroutine_threadsafe(adapter.answer(self.path), loop)
            try:
                answer = made.result(ANSWER_SECONDS)
            except Late:
                answer = AdapterAnswer(503, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 503})
            content = json.dumps(answer.body).encode()
            self.send_response(answer.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """The autoscaler asks every few seconds."""

    server = ThreadingHTTPServer((HOST, 0), AdapterHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
