"""A real Prometheus in the place of Google's collectors: whom it scrapes, with which rights, whom it cannot reach."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from llmd_gke.catalog import monitoring
from llmd_gke.manifests import scraping
from localcloud.tests.real_kubernetes import faults, objects
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.models import servers
from localcloud.tests.real_kubernetes.prometheus import Prometheus

REPLICAS = 3
COLLECTOR = f"system:serviceaccount:{monitoring.COLLECTOR_NAMESPACE}:{monitoring.COLLECTOR_ACCOUNT}"


@contextmanager
def without(laptop: Laptop, kind: str, name: str, namespace: str = objects.MODELS) -> Generator[None]:
    """An object is missing meanwhile."""
    kept = laptop.get(kind, name, "-n", namespace)
    for field in ("uid", "resourceVersion", "managedFields", "creationTimestamp", "generation"):
        kept["metadata"].pop(field, None)
    laptop.kubectl("delete", kind, name, "-n", namespace)
    try:
        yield
    finally:
        laptop.apply(kept)


def up(prometheus: Prometheus, job: str) -> list[str]:
    """1 for each target of a job that answers, 0 for each that does not."""
    return [one["value"][1] for one in prometheus.samples(f'up{{job="{job}"}}')[0]]


def test_servers_and_picker_are_scraped_under_googles_labels(watched: Laptop) -> None:
    prometheus = Prometheus(watched)
    until(lambda: up(prometheus, scraping.SERVERS) == ["1"] * REPLICAS, "the servers' metrics", 60)
    until(lambda: up(prometheus, scraping.PICKERS) == ["1"], "the picker's metrics", 60)
    where = ("project_id", "location", "cluster", "namespace", "model")
    here = ("rehearsal", "europe-west4", "llmd-local", "models", "qwen")
    pods = sorted((objects.name(pod), pod["spec"]["nodeName"]) for pod in servers(watched))
    series = prometheus.labels("vllm:num_requests_running", *where, "pod", "node", "instance", "container")
    assert series == [(*here, pod, node, f"{pod}:8000", "") for pod, node in pods]
    assert prometheus.labels("inference_pool_ready_pods", *where) == [here]


def test_of_kube_state_metrics_there_is_what_gke_has(watched: Laptop) -> None:
    prometheus = Prometheus(watched)
    expression = 'kube_deployment_status_replicas_available{deployment="qwen-kserve"}'
    until(lambda: prometheus.samples(expression)[0], "kube state metrics", 60)
    assert prometheus.labels(expression, "namespace", "cluster") == [("models", "llmd-local")]
    names = {name for (name,) in prometheus.labels('count by (__name__) ({job="kube-state-metrics"})', "__name__")}
    assert "kube_pod_container_status_restarts_total" not in names
    restarts = 'kubernetes_io:container_restart_count{monitored_resource="k8s_container",container_name="main"}'
    pods = {pod for (pod,) in prometheus.labels(restarts, "pod_name")}
    assert {objects.name(pod) for pod in servers(watched)} <= pods


def test_without_the_right_to_the_secret_pickers_are_not_scraped_and_servers_are(watched: Laptop) -> None:
    prometheus = Prometheus(watched)
    until(lambda: up(prometheus, scraping.PICKERS) == ["1"], "the picker's metrics", 60)
    with without(watched, "rolebinding", scraping.READ_TOKEN):
        until(lambda: up(prometheus, scraping.PICKERS) == [], "the end of the picker's metrics", 60)
        (reason,) = prometheus.refused(scraping.PICKERS)
        assert f'User "{COLLECTOR}" cannot list resource "secrets"' in reason
        assert prometheus.refused(scraping.SERVERS) == {""}
        assert up(prometheus, scraping.SERVERS) == ["1"] * REPLICAS
    until(lambda: up(prometheus, scraping.PICKERS) == ["1"], "the picker's metrics again", 60)


def test_a_token_that_may_not_read_metrics_is_refused_by_the_picker_itself(watched: Laptop) -> None:
    prometheus = Prometheus(watched)
    until(lambda: up(prometheus, scraping.PICKERS) == ["1"], "the picker's metrics", 60)
    with without(watched, "clusterrolebinding", scraping.READER, ""):
        # A picker remembers for five minutes what the API server allowed; a new process asks.
        (picker,) = objects.pods_of(watched, "qwen-kserve-router-scheduler")
        faults.kill(watched, faults.PICKER, objects.name(picker))
        until(lambda: [one for one in prometheus.errors(scraping.PICKERS) if "403" in one], "a refused scrape", 120)
        assert up(prometheus, scraping.PICKERS) == ["0"]
    until(lambda: up(prometheus, scraping.PICKERS) == ["1"], "the picker's metrics again", 120)


def test_where_no_policy_admits_the_collectors_nothing_is_scraped_and_the_reason_says_so(watched: Laptop) -> None:
    prometheus = Prometheus(watched)
    with without(watched, "networkpolicy", "allow-collectors"):
        for job, port in ((scraping.SERVERS, 8000), (scraping.PICKERS, 9090)):
            until(lambda job=job: up(prometheus, job) == [], f"the end of {job}", 60)
            reasons = prometheus.refused(job)
            assert reasons
            assert all(f"no NetworkPolicy admits gmp-system to port {port} of" in reason for reason in reasons)
    until(lambda: up(prometheus, scraping.SERVERS) == ["1"] * REPLICAS, "the servers' metrics again", 60)
    until(lambda: up(prometheus, scraping.PICKERS) == ["1"], "the picker's metrics again", 60)
