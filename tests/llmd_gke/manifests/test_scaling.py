from __future__ import annotations

from typing import Any, cast

import pytest

from llmd_gke.catalog import scaling as catalogue
from llmd_gke.manifests import naming, scaling, serving
from llmd_gke.settings import ModelSettings, PoolSettings
from tests.llmd_gke.manifests.conftest import MakeModel

SOURCES: tuple[catalogue.Source, ...] = ("gke", "keda")


@pytest.fixture
def scaled(make_model: MakeModel) -> ModelSettings:
    return make_model(min_replicas=1, max_replicas=4, max_num_seqs=256)


def made(model: ModelSettings, source: catalogue.Source) -> dict[str, Any]:
    return cast("dict[str, Any]", scaling.objects(model, source, "llmd", "my-project"))


@pytest.mark.parametrize("source", SOURCES)
def test_a_fixed_number_and_a_stopped_model_have_no_autoscaler(make_model: MakeModel, source: catalogue.Source) -> None:
    assert made(make_model(), source) == {}
    assert made(make_model(min_replicas=1, max_replicas=2, stopped=True), source) == {}


@pytest.mark.parametrize("source", SOURCES)
def test_it_scales_the_deployment_that_kserve_makes_under_a_name_of_our_own(
    scaled: ModelSettings, source: catalogue.Source
) -> None:
    scaler = made(scaled, source)["replicas"]
    assert scaler["spec"]["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "qwen-kserve"}
    assert scaler["metadata"]["name"] == "qwen-replicas"
    assert not scaler["metadata"]["name"].endswith(catalogue.CONTROLLED_BY_KSERVE)


def test_both_sources_give_the_autoscaler_the_same_bounds_and_pace(scaled: ModelSettings) -> None:
    hpa, keda = made(scaled, "gke")["replicas"]["spec"], made(scaled, "keda")["replicas"]["spec"]
    assert (hpa["minReplicas"], hpa["maxReplicas"]) == (keda["minReplicaCount"], keda["maxReplicaCount"]) == (1, 4)
    # No default that KEDA removes: each preview would add it again.
    behaviour = {"name": "qwen-replicas", "behavior": hpa["behavior"]}
    assert keda["advanced"] == {"horizontalPodAutoscalerConfig": behaviour}
    limits = [metric["pods"]["target"]["averageValue"] for metric in hpa["metrics"]]
    assert limits == [trigger["metadata"]["threshold"] for trigger in keda["triggers"]] == ["5", "205"]


@pytest.mark.parametrize(("sequences", "queries"), [(None, ["5"]), (1, ["5"]), (2, ["5", "1"]), (256, ["5", "205"])])
def test_running_requests_count_only_where_they_can_exceed_their_threshold(
    make_model: MakeModel, sequences: int | None, queries: list[str]
) -> None:
    model = make_model(min_replicas=1, max_replicas=4, max_num_seqs=sequences)
    triggers = made(model, "keda")["replicas"]["spec"]["triggers"]
    assert [trigger["metadata"]["threshold"] for trigger in triggers] == queries


def test_one_replica_is_added_per_start_of_a_host_and_removed_slowly(make_model: MakeModel) -> None:
    pace = {"scale_up_every_seconds": 1200, "scale_down_after_seconds": 3600}
    behaviour = cast("Any", scaling.behaviour(make_model(min_replicas=1, max_replicas=4, scaling=pace)))
    assert behaviour["scaleUp"]["policies"] == [{"type": "Pods", "value": 1, "periodSeconds": 1200}]
    assert behaviour["scaleDown"]["stabilizationWindowSeconds"] == 3600
    assert [policy["value"] for policy in behaviour["scaleDown"]["policies"]] == [1]


def test_the_managed_adapter_selects_pods_by_a_label_that_it_accepts(scaled: ModelSettings, pool: PoolSettings) -> None:
    (metric,) = made(scaled, "gke")["load"]["spec"]["metrics"]
    ((key, value),) = metric["pod"]["selector"]["matchLabels"].items()
    assert {key: value} == cast("Any", serving.service(scaled, pool, source="gke"))["spec"]["labels"]
    gauges = [one["gauge"]["name"] for one in metric["pod"]["containers"][0]["metrics"]]
    names = [one["pods"]["metric"]["name"] for one in made(scaled, "gke")["replicas"]["spec"]["metrics"]]
    assert names == [f"autoscaling.gke.io|{naming.load('qwen')}|{gauge}" for gauge in gauges]


def test_keda_reads_this_clusters_model_and_never_takes_missing_data_for_zero(scaled: ModelSettings) -> None:
    (spec,) = [one["spec"] for one in made(scaled, "keda").values()]
    assert "fallback" not in spec
    for trigger in spec["triggers"]:
        assert trigger["metadata"]["ignoreNullValues"] == "false"
        assert trigger["metadata"]["activationThreshold"] == "-1", "active as soon as there is a number"
        assert '{cluster="llmd",namespace="models",model="qwen"}' in trigger["metadata"]["query"]
        assert trigger["metadata"]["serverAddress"].endswith("/projects/my-project/location/global/prometheus")
        assert trigger["authenticationRef"]["name"] == cast("Any", scaling.authentication())["metadata"]["name"]


@pytest.mark.parametrize("source", SOURCES)
def test_the_service_has_no_number_and_pods_are_waited_for_by_what_scales_them(
    scaled: ModelSettings, pool: PoolSettings, source: catalogue.Source
) -> None:
    service = cast("Any", serving.service(scaled, pool, source=source))
    assert "replicas" not in service["spec"]
    assert service["metadata"]["annotations"]["pulumi.com/waitFor"] == "condition=RouterReady"
    waits = [one["metadata"].get("annotations", {}).get("pulumi.com/waitFor") for one in made(scaled, source).values()]
    assert waits[-1] == {"gke": "condition=ScalingActive", "keda": "condition=Active"}[source]


def test_a_schedule_adds_a_trigger_for_each_entry_and_lets_only_requests_keep_servers_at_night(
    make_model: MakeModel,
) -> None:
    hours = {"time_zone": "Europe/Amsterdam", "hours": ("Mon-Fri 08:00-18:00", "Sat 09:00-12:00")}
    scaler = made(make_model(min_replicas=2, max_replicas=4, schedule=hours), "keda")["replicas"]
    spec = scaler["spec"]
    assert (spec["minReplicaCount"], spec["maxReplicaCount"], spec["cooldownPeriod"]) == (0, 4, 300)
    load, *days = spec["triggers"]
    assert load["metadata"]["activationThreshold"] == "0"
    assert load["metadata"]["ignoreNullValues"] == "false"
    assert [day["type"] for day in days] == ["cron", "cron"]
    assert days[0]["metadata"] == {
        "timezone": "Europe/Amsterdam",
        "start": "0 8 * * 1,2,3,4,5",
        "end": "0 18 * * 1,2,3,4,5",
        "desiredReplicas": "2",
    }
    assert "annotations" not in scaler["metadata"], "at night an update would wait for the morning"
    behaviour = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    assert behaviour["scaleUp"]["policies"][0]["value"] == 2, "the first servers of a day start together"
