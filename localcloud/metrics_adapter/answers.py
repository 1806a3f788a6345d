"""What the adapter answers: discovery, and the values of one gauge for all pods of a namespace."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qs, unquote, urlsplit

import httpx

from llmd_common.kubernetes.client import PODS, Kube, KubeError, Resource, Unreachable
from llmd_common.kubernetes.fields import Object, condition_is_true, each, labels, name, namespace, number, part, text
from localcloud.common.https import GetResponse
from localcloud.gke_gateway.resources.objects import label_selector_matches
from localcloud.metrics_adapter import gauges
from localcloud.product import scaling

log = logging.getLogger(__name__)

GROUP, VERSION = "custom.metrics.k8s.io", "v1beta2"
API = f"{GROUP}/{VERSION}"
_METRIC_PATH = re.compile(rf"/apis/{re.escape(API)}/namespaces/(?P<space>[^/]+)/pods/\*/(?P<metric>[^/]+)")
RESOURCES: Object = {
    "kind": "APIResourceList",
    "apiVersion": "v1",
    "groupVersion": API,
    "resources": [
        {"name": "pods/*", "singularName": "", "namespaced": True, "kind": "MetricValueList", "verbs": ["get"]}
    ],
}
METRICS = Resource(scaling.METRIC_VERSION, scaling.METRIC_PLURAL)
MOST_ON_A_NODE = 50
"""Metrics of one node; further ones have no value. Counted by pod: a TPU host runs one server."""
ALLOWED = "letters, digits, hyphens and underscores"
"""Characters of the keys of labels that select pods."""
DEFAULT_PATH = "/metrics"
SCRAPE_SECONDS = 5.0

Fetch = Callable[[str], Awaitable[str]]
"""Reads a URL. Raises ``httpx.HTTPError``."""


@dataclass(frozen=True)
class Gauge:
    """A gauge of an AutoscalingMetric: its name there, its name in Prometheus' format, and where pods show it."""

    name: str
    exposed: str
    port: int
    path: str


def gauges_of(pod_metric: Object) -> Iterator[Gauge]:
    """The gauges of one entry ``pod`` of an AutoscalingMetric."""
    for container in each(pod_metric, "containers"):
        port = number(container, "endpoint", "port") or 0
        path = text(container, "endpoint", "path") or DEFAULT_PATH
        for metric in each(container, "metrics"):
            short = text(metric, "gauge", "name")
            yield Gauge(short, text(metric, "gauge", "prometheusMetricName") or short, port, path)


def served(metrics: Sequence[Object], pod: Object) -> list[tuple[str, Gauge]]:
    """The gauges of a pod with the names by which a HorizontalPodAutoscaler asks for them, oldest object first."""
    matching = [
        (f"{scaling.METRIC_GROUP}|{name(metric)}|{gauge.name}", gauge)
        for metric in sorted(metrics, key=lambda one: (text(one, "metadata", "creationTimestamp"), name(one)))
        for entry in each(metric, "spec", "metrics")
        if not unsupported_keys(entry) and label_selector_matches(part(entry, "pod", "selector"), labels(pod))
        for gauge in gauges_of(part(entry, "pod"))
    ]
    return matching[:MOST_ON_A_NODE]


def unsupported_keys(entry: Object) -> list[str]:
    """Keys of labels in an entry of an AutoscalingMetric that are not of letters, digits, hyphens and underscores.

    The page allows no others. What GKE says of them is not documented: here the entry selects nothing.
    """
    keys = part(entry, "pod", "selector", "matchLabels")
    return [key for key in keys if not re.fullmatch(scaling.METRIC_LABEL_KEY, key)]


class Adapter:
    """Reads objects by ``kube`` and pods by ``fetch``."""

    def __init__(self, kube: Kube, fetch: Fetch) -> None:
        self._kube, self._fetch = kube, fetch

    async def answer(self, target: str) -> GetResponse:
        """The answer to a request's path and query."""
        split = urlsplit(target)
        path = unquote(split.path)
        if path.rstrip("/") == f"/apis/{API}":
            return _ok(RESOURCES)
        if asked := _METRIC_PATH.fullmatch(path):
            selector = parse_qs(split.query).get("labelSelector", [""])[0]
            return await self._values(asked["space"], asked["metric"], selector)
        return failure(404, "NotFound", f"the adapter does not serve {path}")

    async def _values(self, space: str, metric: str, selector: str) -> GetResponse:
        try:
            metrics = await self._kube.list(METRICS, space)
            pods = await self._kube.list(PODS, space, labels=selector or None)
        except (KubeError, *Unreachable) as error:
            return failure(503, "ServiceUnavailable", f"the API server does not answer: {error}")
        asked = [
            self._item(pod, metric, gauge)
            for pod in pods
            if condition_is_true(pod, "Ready")
            for listed, gauge in served(metrics, pod)
            if listed == metric
        ]
        items = [item for item in await asyncio.gather(*asked) if item is not None]
        if not items:
            message = [f"no pod of {space} has a value of {metric}", *_reasons(metrics)]
            return failure(404, "NotFound", "; ".join(message))
        return _ok({"kind": "MetricValueList", "apiVersion": API, "metadata": {}, "items": items})

    async def _item(self, pod: Object, metric: str, gauge: Gauge) -> Object | None:
        """The value of one pod; ``None`` without an answer, which must not count as 0."""
        url = f"http://{text(pod, 'status', 'podIP')}:{gauge.port}{gauge.path}"
        try:
            value = gauges.value(await self._fetch(url), gauge.exposed)
        except httpx.HTTPError as error:
            log.warning("%s: %s", url, error or type(error).__name__)
            return None
        if value is None:
            log.warning("%s has no gauge %s", url, gauge.exposed)
            return None
        return {
            "describedObject": {"kind": "Pod", "namespace": namespace(pod), "name": name(pod), "apiVersion": "/v1"},
            "metric": {"name": metric},
            "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "value": gauges.quantity(value),
        }


def _reasons(metrics: Sequence[Object]) -> Iterator[str]:
    """Selectors that select nothing: the autoscaler shows them in its condition ``ScalingActive``."""
    for metric in metrics:
        for key in (key for entry in each(metric, "spec", "metrics") for key in unsupported_keys(entry)):
            yield f"{scaling.METRIC} {name(metric)} selects no pods: {key} has other characters than {ALLOWED}"


def _ok(body: Object) -> GetResponse:
    return GetResponse(200, json.dumps(body).encode())


def failure(code: int, reason: str, message: str) -> GetResponse:
    """An error as API servers write it."""
    body: Object = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code}
    return GetResponse(code, json.dumps(body | {"message": message}).encode())


async def fetch(url: str) -> str:
    """The body of a page. Raises ``httpx.HTTPError`` for no answer and for one that is not 200."""
    async with httpx.AsyncClient(timeout=SCRAPE_SECONDS, trust_env=False) as client:
        return (await client.get(url)).raise_for_status().text
