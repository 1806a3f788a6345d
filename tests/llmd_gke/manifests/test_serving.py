"""LLMInferenceService: what the server is told, routes, and what the endpoint picker goes by."""

from __future__ import annotations

from typing import Any, cast

import pytest

from llmd_gke.manifests import scheduler, server_pod, serving
from llmd_gke.settings import ModelSettings, PoolSettings
from tests.llmd_gke.manifests.conftest import MakeModel, container


def test_arguments_follow_the_settings_and_both_names_are_served(make_model: MakeModel, pool: PoolSettings) -> None:
    model = make_model(
        served_model_name="Qwen/Qwen3-4B", max_model_len=2048, max_num_seqs=64, max_num_batched_tokens=4096,
        dtype="bfloat16",
    )  # fmt: skip
    assert server_pod.server_arguments(model, pool) == [
        "--served-model-name", "Qwen/Qwen3-4B", "publishers/models/models/Qwen/Qwen3-4B",
        "--port", "8000", "--tensor-parallel-size", "4", "--enable-prefix-caching", "--max-model-len", "2048",
        "--max-num-seqs", "64", "--max-num-batched-tokens", "4096", "--dtype", "bfloat16",
        "--disable-access-log-for-endpoints", "/health,/metrics", "--shutdown-timeout", "60",
    ]  # fmt: skip


def test_what_is_not_set_is_left_to_the_server_but_prefix_caching_is_said_either_way(
    make_model: MakeModel, pool: PoolSettings
) -> None:
    result = set(server_pod.server_arguments(make_model(prefix_caching=False), pool))
    assert not result & {"--max-model-len", "--max-num-seqs", "--max-num-batched-tokens", "--dtype"}
    assert "--no-enable-prefix-caching" in result


def test_extra_arguments_come_last_and_in_order(make_model: MakeModel, pool: PoolSettings) -> None:
    model = make_model(extra_args=("--seed", "7", "--block-size", "32"))
    assert server_pod.server_arguments(model, pool)[-4:] == ["--seed", "7", "--block-size", "32"]
    assert container(model, pool)["args"] == server_pod.server_arguments(model, pool)


@pytest.mark.parametrize(
    ("image", "knows"),
    [
        ("docker.io/vllm/vllm-tpu:v0.17.3", False),
        ("docker.io/vllm/vllm-tpu:v0.18.0", True),
        ("vllm/vllm-tpu:v0.18.0", True),
        ("europe-docker.pkg.dev/p/hub/vllm/vllm-tpu:v0.27.0", True),
        ("docker.io/vllm/vllm-tpu@sha256:" + "0" * 64, False),
        # Counted on their own: 3.2.5 holds a vLLM of 2025.
        ("registry.redhat.io/rhaiis/vllm-tpu-rhel9:3.2.5", False),
        ("example.com/mine:v1.0.0", False),
    ],
)
def test_only_servers_that_know_an_argument_get_it(
    make_model: MakeModel, pool: PoolSettings, image: str, knows: bool
) -> None:
    arguments = server_pod.server_arguments(make_model(image=image), pool)
    assert ("--shutdown-timeout" in arguments) is knows
    assert ("--disable-access-log-for-endpoints" in arguments) is (knows or image.endswith(":v0.17.3"))


def test_the_service_refers_to_route_and_gateway(model: ModelSettings, pool: PoolSettings) -> None:
    spec = cast("Any", serving.service(model, pool))["spec"]
    assert (spec["replicas"], spec["baseRefs"]) == (3, [{"name": "qwen-tpu"}])
    router = spec["router"]
    assert router["route"] == {"http": {"refs": [{"name": "qwen-route"}]}}
    assert router["gateway"] == {"refs": [{"name": "inference-gateway", "namespace": "inference-gateway"}]}


def test_an_update_waits_for_the_rollout_of_what_changes_pods_and_for_no_other(
    make_model: MakeModel, pool: PoolSettings
) -> None:
    def waits_for(**changed: object) -> object:
        model = make_model(**changed)
        made = serving.rollout(serving.runtime_config(model, pool), serving.service(model, pool))
        return cast("Any", made)["spec"]["template"]["metadata"]["annotations"]

    before = waits_for()
    assert waits_for(replicas=2, wait_for="workloads") == before
    for changed in ({"max_model_len": 4096}, {"uri": "hf://Qwen/Qwen3-8B"}, {"drain_seconds": 10}):
        assert waits_for(**changed) != before


def test_no_token_is_in_the_configuration_of_a_gated_model(make_model: MakeModel, pool: PoolSettings) -> None:
    model = make_model(gated=True)
    assert "HF_TOKEN" not in str(serving.runtime_config(model, pool))
    service = cast("Any", serving.service(model, pool))
    assert service["metadata"]["annotations"]["serving.kserve.io/secretName"] == "hugging-face-token"
    assert "secretName" not in str(serving.service(make_model(gated=False), pool))


@pytest.mark.parametrize("caching", [True, False])
def test_the_picker_scores_prefixes_only_where_the_server_caches_them(make_model: MakeModel, caching: bool) -> None:
    config = cast("Any", scheduler.scheduler_config(make_model(prefix_caching=caching)))
    scored = [plugin["pluginRef"] for plugin in config["schedulingProfiles"][0]["plugins"]]
    assert ("prefix-cache-scorer" in scored) is caching
    assert set(scored) <= {plugin["type"] for plugin in config["plugins"]}, "a profile names plugins that exist"
    assert scored[-1] == "max-score-picker"


def weights_of(model: ModelSettings) -> list[tuple[str, int | None]]:
    config = cast("Any", scheduler.scheduler_config(model))
    assert config["plugins"][0] == {"type": "single-profile-handler"}
    return [(one["pluginRef"], one.get("weight")) for one in config["schedulingProfiles"][0]["plugins"]]


@pytest.mark.parametrize(
    ("profile", "weights"),
    [
        (
            "optimized-baseline",
            [
                ("queue-scorer", 2),
                ("kv-cache-utilization-scorer", 2),
                ("prefix-cache-scorer", 3),
                ("no-hit-lru-scorer", 2),
            ],
        ),
        ("queue-and-prefix", [("queue-scorer", 2), ("prefix-cache-scorer", 3)]),
        ("load", [("queue-scorer", 2), ("kv-cache-utilization-scorer", 2)]),
    ],
)
def test_profiles_are_upstreams_weights(
    make_model: MakeModel, profile: str, weights: list[tuple[str, int | None]]
) -> None:
    model = make_model(scheduler={"profile": profile})
    assert weights_of(model) == [*weights, ("max-score-picker", None)]


def test_plugins_of_ones_own_replace_the_profile(make_model: MakeModel) -> None:
    plugins = [{"type": "queue-scorer", "weight": 7, "parameters": {"x": 1}}, {"type": "random-picker"}]
    model = make_model(scheduler={"plugins": plugins})
    assert weights_of(model) == [("queue-scorer", 7), ("random-picker", None)]
    assert {"type": "queue-scorer", "parameters": {"x": 1}} in cast("Any", scheduler.scheduler_config(model))["plugins"]


def test_thresholds_of_a_full_replica_are_the_pickers_unless_settings_say_otherwise(make_model: MakeModel) -> None:
    silent = cast("Any", scheduler.scheduler_config(make_model()))
    assert "saturationDetector" not in silent
    thresholds = {"queue_depth_threshold": 20, "kv_cache_util_threshold": 0.9, "metrics_staleness_milliseconds": 500}
    config = cast("Any", scheduler.scheduler_config(make_model(scheduler={"saturation": thresholds})))
    assert config["saturationDetector"] == {"pluginRef": "utilization-detector"}
    assert config["plugins"][-1] == {
        "type": "utilization-detector",
        "parameters": {"queueDepthThreshold": 20, "kvCacheUtilThreshold": 0.9, "metricsStalenessThreshold": "500ms"},
    }
    assert config["schedulingProfiles"] == silent["schedulingProfiles"], "it gives no scores"


def test_a_limit_of_requests_in_flight_takes_the_place_of_the_thresholds(make_model: MakeModel) -> None:
    config = cast("Any", scheduler.scheduler_config(make_model(scheduler={"saturation": {"max_concurrency": 8}})))
    assert config["saturationDetector"] == {"pluginRef": "concurrency-detector"}
    assert config["plugins"][-1] == {"type": "concurrency-detector", "parameters": {"maxConcurrency": 8}}
    assert "utilization-detector" not in str(config)
    assert "concurrency-detector" not in str(config["schedulingProfiles"]), "as a filter it would reject, not queue"


@pytest.mark.parametrize(
    ("scheduling", "detector"),
    [
        ({}, {"type": "concurrency-detector", "parameters": {"maxConcurrency": 256}}),
        (
            {"saturation": {"queue_depth_threshold": 9}},
            {"type": "utilization-detector", "parameters": {"queueDepthThreshold": 9}},
        ),
        ({"plugins": [{"type": "queue-scorer"}, {"type": "utilization-detector"}]}, None),
    ],
)
def test_with_priorities_a_replica_is_full_with_the_requests_that_it_runs_at_once_unless_settings_say_otherwise(
    make_model: MakeModel, scheduling: dict[str, Any], detector: dict[str, Any] | None
) -> None:
    config = cast(
        "Any", scheduler.scheduler_config(make_model(max_num_seqs=256, scheduler=scheduling), flow_control=True)
    )
    assert config.get("saturationDetector") == (detector and {"pluginRef": detector["type"]})
    assert detector is None or detector in config["plugins"]


@pytest.mark.parametrize(
    ("wait", "condition"), [("ready", "condition=Ready"), ("workloads", "condition=WorkloadsReady")]
)
def test_a_model_may_be_waited_for_without_route_and_pool(
    make_model: MakeModel, pool: PoolSettings, wait: str, condition: str
) -> None:
    service = cast("Any", serving.service(make_model(wait_for=wait), pool))
    assert service["metadata"]["annotations"]["pulumi.com/waitFor"] == condition


@pytest.mark.parametrize(
    ("variable", "default", "own"), [("VLLM_MAX_N_SEQUENCES", "8", "4"), ("VLLM_HTTP_TIMEOUT_KEEP_ALIVE", "630", "900")]
)
def test_answers_of_a_request_and_idle_connections_have_limits_unless_settings_say_otherwise(
    make_model: MakeModel, pool: PoolSettings, variable: str, default: str, own: str
) -> None:
    def given(model: ModelSettings) -> list[Any]:
        return [one.get("value") for one in container(model, pool)["env"] if one["name"] == variable]

    assert given(make_model()) == [default]
    assert given(make_model(env=[{"name": variable, "value": own}])) == [own]


def test_variables_come_as_values_or_from_secrets(make_model: MakeModel, pool: PoolSettings) -> None:
    model = make_model(env=[{"name": "A", "value": "1"}, {"name": "B", "secret": "s", "key": "k"}])
    environment = container(model, pool)["env"]
    assert {"name": "A", "value": "1"} in environment
    assert {"name": "B", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}} in environment


def test_the_server_is_unprivileged_until_its_settings_say_otherwise(make_model: MakeModel, pool: PoolSettings) -> None:
    closed = {"runAsNonRoot": False, "allowPrivilegeEscalation": False, "privileged": False}
    assert container(make_model(), pool)["securityContext"] == closed
    some = container(make_model(capabilities=["SYS_RESOURCE"]), pool)["securityContext"]
    assert some == {**closed, "capabilities": {"add": ["SYS_RESOURCE"]}}
    # Kubernetes refuses a privileged container that may not escalate.
    full = {"runAsNonRoot": False, "allowPrivilegeEscalation": True, "privileged": True}
    assert container(make_model(privileged=True), pool)["securityContext"] == full
