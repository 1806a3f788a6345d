"""Replicas follow the load by GKE's own way: the real autoscaler, and the stand-in of the managed adapter of metrics.

Neither KEDA nor Prometheus runs. The tests follow each other: the first ones find one replica, and leave one.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.catalog import scaling, versions
from llmd_gke.manifests import naming
from localcloud.tests.real_kubernetes import autoscaling, models, objects
from localcloud.tests.real_kubernetes.autoscaling import (
    AT_ONCE,
    FEWEST,
    HPA,
    MOST,
    NAME,
    QUICKLY,
    SCALE_SECONDS,
    STREAMS,
    UNCHANGED,
    autoscaler,
    await_replicas,
    nodes,
    patched,
    rescales,
    streams,
)
from localcloud.tests.real_kubernetes.harness import Laptop, brought_up, until

METRIC = f"{scaling.METRIC_PLURAL}.{scaling.METRIC_GROUP}"
LOAD = naming.load("qwen")
WAITING, RUNNING = (f"{scaling.METRIC_GROUP}|{LOAD}|{gauge}" for gauge in ("waiting", "running"))
DOTTED = "app.kubernetes.io/name"
"""A label that the model's pods have, with a key that the adapter does not support."""


def settings(config: dict[str, Any]) -> None:
    """Bounds, and a version of GKE that has the adapter."""
    autoscaling.settings(config)
    config["llmd-gke:cluster"]["minVersion"] = versions.gke_autoscaling_metric()


@pytest.fixture(scope="module")
def managed(tmp_path_factory: pytest.TempPathFactory, whole: None) -> Iterator[Laptop]:
    """A laptop cloud with stack ``local`` up, whose model GKE's adapter scales."""
    variables = {"LLMD_GKE_SIMULATOR_ARGS": autoscaling.SIMULATOR, "LLMD_GKE_SCALE_DOWN_SECONDS": "15"}
    with brought_up(tmp_path_factory.mktemp("managed"), "local", settings, variables) as made:
        yield made


def numbers(laptop: Laptop) -> dict[str, str]:
    """The mean of each metric that the autoscaler has read last."""
    read = autoscaler(laptop)["status"].get("currentMetrics") or []
    return {one["pods"]["metric"]["name"]: one["pods"]["current"]["averageValue"] for one in read if "pods" in one}


def test_the_autoscaler_reads_the_servers_without_keda_and_prometheus(managed: Laptop) -> None:
    until(lambda: numbers(managed) == {WAITING: "0", RUNNING: "0"}, "both gauges of a server without load", 90)
    assert objects.condition(autoscaler(managed), "ScalingActive") == "True"
    assert managed.get("namespace", scaling.KEDA_NAMESPACE) is None
    assert "monitoring" not in {process.name for process in managed.status().processes}


def test_replicas_and_nodes_follow_a_queue_and_an_update_leaves_them(managed: Laptop, tmp_path: Path) -> None:
    await_replicas(managed, FEWEST)
    with streams(managed, tmp_path / "streams.jsonl", STREAMS) as load:
        until(lambda: numbers(managed).get(RUNNING) == str(AT_ONCE), "a mean of full servers", SCALE_SECONDS)
        await_replicas(managed, MOST)
        until(lambda: len(nodes(managed)) == MOST, "a node for each replica", SCALE_SECONDS)
        previewed = managed.preview().stdout
        assert UNCHANGED.search(previewed), previewed
        # Not `make up`: it asks the model, whose servers are all full, and gives it 30 s.
        for command in ("up", "refresh"):
            managed.pulumi(command, "--yes", "--expect-no-changes", "--stack", "local")
        assert len(models.servers(managed)) == MOST
    assert load.broken() == []


def test_missing_numbers_keep_the_replicas_and_numbers_of_no_load_remove_them(managed: Laptop) -> None:
    await_replicas(managed, MOST)
    (wrong,) = copy.deepcopy(managed.get(METRIC, LOAD, "-n", objects.MODELS)["spec"]["metrics"])
    wrong["pod"]["containers"][0]["endpoint"]["path"] = "/nothing"
    behaviour = autoscaler(managed)["spec"]["behavior"]
    behaviour["scaleDown"] |= QUICKLY
    with patched(managed, HPA, behavior=behaviour):
        with patched(managed, METRIC, LOAD, metrics=[wrong]):
            until(lambda: objects.condition(autoscaler(managed), "ScalingActive") == "False", "no numbers", 120)
            before, evaluations = rescales(managed), misses(managed)
            until(lambda: misses(managed) >= evaluations + 4, "evaluations without numbers", SCALE_SECONDS)
            assert rescales(managed) == before
        await_replicas(managed, FEWEST)
    until(lambda: len(nodes(managed)) == FEWEST, "the nodes follow", SCALE_SECONDS)


def test_a_selector_whose_key_has_a_dot_leaves_the_autoscaler_without_numbers(managed: Laptop) -> None:
    (wrong,) = copy.deepcopy(managed.get(METRIC, LOAD, "-n", objects.MODELS)["spec"]["metrics"])
    labels = models.servers(managed)[0]["metadata"]["labels"]
    wrong["pod"]["selector"] = {"matchLabels": {DOTTED: labels[DOTTED]}}
    with patched(managed, METRIC, LOAD, metrics=[wrong]):
        until(lambda: f"selects no pods: {DOTTED}" in objects.why(autoscaler(managed)), "the reason", 120)
        assert objects.condition(autoscaler(managed), "ScalingActive") == "False"
    until(lambda: objects.condition(autoscaler(managed), "ScalingActive") == "True", "numbers again", 120)


def test_a_model_goes_over_to_a_fixed_number_and_back_in_a_new_service(managed: Laptop) -> None:
    """KServe puts the label that the adapter selects into the Deployment's selector, which is immutable."""

    def fixed(config: dict[str, Any]) -> None:
        model = models.first(config)
        for key in ("minReplicas", "maxReplicas", "scaling"):
            del model[key]
        model["replicas"] = 1

    def selected() -> bool:
        return scaling.MODEL_LABEL in models.servers(managed)[0]["metadata"]["labels"]

    assert selected()
    with models.changed(managed):
        managed.edit("local", fixed)
        managed.up()
        assert objects.one(managed, HPA, NAME, objects.MODELS) is None
        assert not selected()
    assert selected()
    assert objects.condition(autoscaler(managed), "ScalingActive") == "True"


def misses(laptop: Laptop) -> int:
    """How often the autoscaler has had no value so far, by the log of its controller."""
    return laptop.log("kube-controller-manager").count("unable to get metric autoscaling.gke.io|")
