"""What the stand-in of GKE's managed adapter of metrics answers to the autoscaler."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import httpx

from llmd_common.kubernetes.client import Kube, Resource
from llmd_common.kubernetes.fields import Object
from localcloud.common.https import GetResponse
from localcloud.metrics_adapter.answers import API, METRICS, MOST_ON_A_NODE, Adapter, served

LABELS = {"llmd-gke-model": "qwen"}
PAGE = "# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting 4\n"


def metric(name: str = "qwen-load", *gauges: str, created: str = "2026-01-01T00:00:00Z") -> Object:
    exposed = [
        {"gauge": {"name": gauge, "prometheusMetricName": f"vllm:num_requests_{gauge}"}}
        for gauge in gauges or ("waiting",)
    ]
    container = {"endpoint": {"port": 8000, "path": "/metrics"}, "metrics": exposed}
    return {
        "metadata": {"name": name, "namespace": "models", "creationTimestamp": created},
        "spec": {"metrics": [{"pod": {"selector": {"matchLabels": LABELS}, "containers": [container]}}]},
    }


def pod(name: str, address: str, *, ready: bool = True, labels: Mapping[str, str] = LABELS) -> Object:
    condition = {"type": "Ready", "status": str(ready)}
    return {
        "metadata": {"name": name, "namespace": "models", "labels": dict(labels)},
        "status": {"podIP": address, "conditions": [condition]},
    }


class ListedKube(Kube):
    """An API server with fixed objects."""

    def __init__(self, metrics: Sequence[Object], pods: Sequence[Object]) -> None:
        self._metrics, self._pods = metrics, pods

    async def list(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        labels: str | None = None,
        fields: str | None = None,
    ) -> list[Object]:
        return list(self._metrics if resource == METRICS else self._pods) if namespace == "models" else []


def ask(target: str, pages: Mapping[str, str], pods: Sequence[Object], *metrics: Object) -> GetResponse:
    async def fetch(url: str) -> str:
        if url not in pages:
            raise httpx.ConnectError(f"nobody answers {url}")
        return pages[url]

    return asyncio.run(Adapter(ListedKube(metrics or [metric()], pods), fetch).answer(target))


def body(answer: GetResponse) -> Any:
    return json.loads(answer.content)


def values(metric_name: str) -> str:
    return f"/apis/{API}/namespaces/models/pods/%2A/{quote(metric_name)}?labelSelector=a%3Db"


URLS = [f"http://10.0.0.{last}:8000/metrics" for last in (1, 2, 3)]
WAITING = "autoscaling.gke.io|qwen-load|waiting"


def test_discovery_names_the_pods_metrics() -> None:
    answer = ask(f"/apis/{API}", {}, [])
    assert (answer.status, body(answer)["groupVersion"]) == (200, API)
    assert [one["name"] for one in body(answer)["resources"]] == ["pods/*"]


def test_each_pod_that_is_ready_and_selected_has_its_own_value() -> None:
    pods = [
        pod("a", "10.0.0.1"),
        pod("b", "10.0.0.2"),
        pod("starting", "10.0.0.3", ready=False),
        pod("of-another-model", "10.0.0.3", labels={"llmd-gke-model": "small"}),
    ]
    answer = ask(values(WAITING), {URLS[0]: PAGE, URLS[1]: PAGE.replace("4", "9"), URLS[2]: PAGE}, pods)
    assert answer.status == 200
    assert [(one["describedObject"]["name"], one["value"]) for one in body(answer)["items"]] == [("a", "4"), ("b", "9")]
    assert {one["metric"]["name"] for one in body(answer)["items"]} == {WAITING}


def test_a_pod_that_does_not_answer_has_no_value_rather_than_0() -> None:
    answer = ask(values(WAITING), {URLS[0]: PAGE}, [pod("a", "10.0.0.1"), pod("silent", "10.0.0.2")])
    assert [one["describedObject"]["name"] for one in body(answer)["items"]] == ["a"]


def test_without_any_value_the_answer_is_an_error_so_that_the_autoscaler_keeps_the_number() -> None:
    counter = PAGE.replace("gauge", "counter")
    assert ask(values(WAITING), {URLS[0]: counter}, [pod("a", "10.0.0.1")]).status == 404, "a counter is no gauge"
    assert ask(values(WAITING), {}, [pod("a", "10.0.0.1")]).status == 404
    assert ask(values("autoscaling.gke.io|other|waiting"), {URLS[0]: PAGE}, [pod("a", "10.0.0.1")]).status == 404


def test_a_selector_whose_key_has_a_dot_selects_nothing_and_the_answer_names_it() -> None:
    dotted = metric()
    key = "app.kubernetes.io/name"
    dotted["spec"]["metrics"][0]["pod"]["selector"] = {"matchLabels": {key: "qwen"}}
    pods = [pod("a", "10.0.0.1", labels={key: "qwen"})]
    refused = ask(values(WAITING), {URLS[0]: PAGE}, pods, dotted)
    assert refused.status == 404
    assert f"qwen-load selects no pods: {key} has other characters than letters, digits" in body(refused)["message"]
    assert ask(values(WAITING), {URLS[0]: PAGE}, [pod("a", "10.0.0.1")]).status == 200


def test_another_api_is_not_served() -> None:
    answer = ask("/apis/external.metrics.k8s.io/v1beta1/namespaces/models/queue", {}, [])
    assert (answer.status, body(answer)["reason"]) == (404, "NotFound")


def test_a_node_has_fifty_metrics_and_the_oldest_objects_have_theirs() -> None:
    many = metric("b", *(f"m{number}" for number in range(MOST_ON_A_NODE)), created="2026-02-01T00:00:00Z")
    listed = served([many, metric("z", "waiting")], pod("a", "10.0.0.1"))
    assert len(listed) == MOST_ON_A_NODE
    assert listed[0][0] == "autoscaling.gke.io|z|waiting"
