"""Runs the adapter beside an API server, and registers it there as GKE does."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Mapping
from concurrent.futures import TimeoutError as Late
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import cast

from llmd_common.kubernetes.client import SERVICES, Kube, Resource
from llmd_common.kubernetes.fields import Object
from localcloud.common import https
from localcloud.common.https import GetResponse
from localcloud.common.layout import Layout
from localcloud.gke_gateway.crds import gke
from localcloud.gke_gateway.crds.install import install_crds
from localcloud.linux_namespaces.addresses import METRICS_ADAPTER_NAME
from localcloud.metrics_adapter.answers import GROUP, VERSION, Adapter, failure, fetch
from localcloud.product import scaling

log = logging.getLogger(__name__)

MANAGER = "gke-metrics-adapter"
API_SERVICES = Resource("apiregistration.k8s.io/v1", "apiservices", namespaced=False)
HOST = "127.0.0.1"
ANSWER_SECONDS = 20.0


async def serve(kube: Kube, layout: Layout) -> None:
    """Installs the CRD, registers the adapter and answers until it is cancelled."""
    await install_crds(kube, [cast("Object", gke.definition(scaling.METRIC))])
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
    """Answers HTTPS on a free port of loopback; the adapter runs in ``loop``."""

    def answer(target: str, _caller: str, _headers: Mapping[str, str]) -> GetResponse:
        made = asyncio.run_coroutine_threadsafe(adapter.answer(target), loop)
        try:
            return made.result(ANSWER_SECONDS)
        except Late:
            return failure(503, "ServiceUnavailable", f"no answer in {ANSWER_SECONDS:.0f} s")

    return https.serve((HOST, 0), answer, https.tls(certificate))
