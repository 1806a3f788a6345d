"""LLMInferenceService and its TPU configuration."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmd_gke.catalog import tpu
from llmd_gke.manifests import serving
from llmd_gke.settings import ModelSettings, TpuPoolSettings
from tests.unit.manifests.conftest import MakeModel, MakePool

SINGLE_HOSTS = [
    (shape.machine.name, shape.topology) for family in tpu.FAMILIES for shape in family.slices() if not shape.multi_host
]


def container(model: ModelSettings, pool: TpuPoolSettings) -> dict[str, Any]:
    found, _ = cast("Any", serving.tpu_config(model, pool))["spec"]["template"]["containers"]
    return found


def test_both_names_are_served(make_model: MakeModel, pool: TpuPoolSettings) -> None:
    arguments = serving.server_arguments(make_model(served_model_name="Qwen/Qwen3-4B"), pool)
    assert arguments[:3] == ["--served-model-name", "Qwen/Qwen3-4B", "publishers/models/models/Qwen/Qwen3-4B"]


def test_the_name_clients_send_is_the_one_the_service_advertises(make_model: MakeModel, pool: TpuPoolSettings) -> None:
    model = make_model(served_model_name="other")
    spec = cast("Any", serving.service(model, pool))["spec"]
    assert spec["model"] == {"uri": model.uri, "name": "other"}


def test_arguments_follow_the_settings(make_model: MakeModel, pool: TpuPoolSettings) -> None:
    model = make_model(max_model_len=2048, max_num_seqs=64, max_num_batched_tokens=4096, dtype="bfloat16")
    assert serving.server_arguments(model, pool)[3:] == [
        "--port", "8000", "--tensor-parallel-size", "4", "--enable-prefix-caching", "--max-model-len", "2048",
        "--max-num-seqs", "64", "--max-num-batched-tokens", "4096", "--dtype", "bfloat16", "--shutdown-timeout", "60",
    ]  # fmt: skip


def test_what_is_not_set_is_left_to_the_server(model: ModelSettings, pool: TpuPoolSettings) -> None:
    found = set(serving.server_arguments(model, pool))
    assert not found & {"--max-model-len", "--max-num-seqs", "--max-num-batched-tokens", "--dtype"}


def test_extra_arguments_come_last_and_in_order(make_model: MakeModel, pool: TpuPoolSettings) -> None:
    model = make_model(extra_args=("--seed", "7", "--block-size", "32"))
    assert serving.server_arguments(model, pool)[-4:] == ["--seed", "7", "--block-size", "32"]
    assert container(model, pool)["args"] == serving.server_arguments(model, pool)


@pytest.mark.parametrize(
    ("caching", "argument"), [(True, "--enable-prefix-caching"), (False, "--no-enable-prefix-caching")]
)
def test_prefix_caching_is_said_either_way(
    make_model: MakeModel, pool: TpuPoolSettings, caching: bool, argument: str
) -> None:
    assert argument in serving.server_arguments(make_model(prefix_caching=caching), pool)


def test_the_server_starts_without_the_presets_script(model: ModelSettings, pool: TpuPoolSettings) -> None:
    assert container(model, pool)["command"] == ["vllm", "serve", "/mnt/models"]


@pytest.mark.parametrize(("machine", "topology"), SINGLE_HOSTS)
def test_a_pod_takes_every_chip_of_its_host_and_fits_beside_the_system(
    make_model: MakeModel, make_pool: MakePool, machine: str, topology: str
) -> None:
    pool = make_pool(machine_type=machine, topology=topology)
    host = pool.slice.machine
    resources = container(make_model(), pool)["resources"]
    assert resources["limits"] == {"google.com/tpu": str(host.chips)}
    assert resources["requests"]["google.com/tpu"] == str(host.chips)
    assert 0 < int(resources["requests"]["cpu"]) < host.vcpus
    assert 0 < int(resources["requests"]["memory"].removesuffix("G")) < host.memory_gb
    assert serving.tensor_parallel(make_model(), pool) == host.chips


def test_a_pod_selects_its_pool_accelerator_topology_and_count(model: ModelSettings, pool: TpuPoolSettings) -> None:
    assert serving.node_selector(pool) == {
        "cloud.google.com/gke-nodepool": pool.name,
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        "cloud.google.com/gke-tpu-topology": "2x2",
        "cloud.google.com/gke-accelerator-count": "4",
    }
    template = cast("Any", serving.tpu_config(model, pool))["spec"]["template"]
    assert template["nodeSelector"] == serving.node_selector(pool)
    assert template["tolerations"] == [{"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}]


@given(minutes=some.integers(15, 180))
def test_the_startup_probe_gives_exactly_the_models_budget(minutes: int) -> None:
    model = ModelSettings(name="m", uri="hf://a/b", pool="p", startup_minutes=minutes)
    pool = TpuPoolSettings(name="p", machine_type="ct6e-standard-4t", topology="2x2", max_nodes=4)
    probe = container(model, pool)["startupProbe"]
    assert probe["failureThreshold"] * probe["periodSeconds"] == minutes * 60


def test_probes_ask_over_plain_http(model: ModelSettings, pool: TpuPoolSettings) -> None:
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container(model, pool)[probe]
        assert asked["httpGet"] == {"path": "/health", "port": 8000, "scheme": "HTTP"}
        assert asked["timeoutSeconds"] <= asked["periodSeconds"]


def test_the_service_refers_to_route_and_gateway(model: ModelSettings, pool: TpuPoolSettings) -> None:
    router = cast("Any", serving.service(model, pool))["spec"]["router"]
    assert router["route"] == {"http": {"refs": [{"name": "qwen-route"}]}}
    assert router["gateway"] == {"refs": [{"name": "inference-gateway", "namespace": "inference-gateway"}]}


def test_the_service_waits_until_it_is_ready(model: ModelSettings, pool: TpuPoolSettings) -> None:
    service = cast("Any", serving.service(model, pool))
    assert service["metadata"]["annotations"] == {"pulumi.com/waitFor": "condition=Ready"}
    assert service["spec"]["replicas"] == 3
    assert service["spec"]["baseRefs"] == [{"name": "qwen-tpu"}]


@pytest.mark.parametrize("caching", [True, False])
def test_the_picker_scores_prefixes_only_where_the_server_caches_them(make_model: MakeModel, caching: bool) -> None:
    config = cast("Any", serving.scheduler_config(make_model(prefix_caching=caching)))
    scored = [plugin["pluginRef"] for plugin in config["schedulingProfiles"][0]["plugins"]]
    assert ("prefix-cache-scorer" in scored) is caching
    assert set(scored) <= {plugin["type"] for plugin in config["plugins"]}, "a profile names plugins that exist"
    assert scored[-1] == "max-score-picker"


def test_no_token_is_in_the_configuration_of_a_gated_model(make_model: MakeModel, pool: TpuPoolSettings) -> None:
    model = make_model(gated=True)
    assert "HF_TOKEN" not in str(serving.tpu_config(model, pool))
    service = cast("Any", serving.service(model, pool))
    assert service["metadata"]["annotations"]["serving.kserve.io/secretName"] == "hugging-face-token"
    assert "secretName" not in str(serving.service(make_model(gated=False), pool))


def test_the_container_has_no_privileges(model: ModelSettings, pool: TpuPoolSettings) -> None:
    context = container(model, pool)["securityContext"]
    assert context["privileged"] is False
    assert context["allowPrivilegeEscalation"] is False


def spec_of(model: ModelSettings, pool: TpuPoolSettings) -> dict[str, Any]:
    return cast("Any", serving.tpu_config(model, pool))["spec"]


def loading(model: ModelSettings, pool: TpuPoolSettings) -> object:
    return cast("Any", serving.service(model, pool))["spec"].get("storageInitializer")


def test_a_pod_is_ready_only_after_its_first_completion(make_model: MakeModel, pool: TpuPoolSettings) -> None:
    containers = spec_of(make_model(served_model_name="Qwen/Qwen3-4B"), pool)["template"]["containers"]
    assert [one["name"] for one in containers] == ["main", "warm-up"]
    warm = containers[1]
    assert warm["args"] == ["8000", "Qwen/Qwen3-4B", "/tmp/warm"]
    assert warm["readinessProbe"]["exec"]["command"][-1] == warm["args"][-1]
    assert "google.com/tpu" not in str(warm["resources"]), "a TPU pod asks for its chips in one container"
    without = spec_of(make_model(warm_up=False), pool)["template"]["containers"]
    assert [one["name"] for one in without] == ["main"]


def test_weights_in_a_bucket_are_mounted_past_kserve(make_model: MakeModel, pool: TpuPoolSettings) -> None:
    model = make_model(uri="gs://weights/qwen/v1/")
    spec = spec_of(model, pool)
    template = spec["template"]
    assert loading(model, pool) == {"enabled": False}, "KServe refuses gs://"
    assert spec["annotations"] == {"gke-gcsfuse/volumes": "true"}
    assert template["serviceAccountName"] == "model-storage"
    assert {
        "name": "weights",
        "csi": {
            "driver": "gcsfuse.csi.storage.gke.io",
            "readOnly": True,
            "volumeAttributes": {"bucketName": "weights", "mountOptions": "implicit-dirs,only-dir=qwen/v1"},
        },
    } in template["volumes"]
    mount = {"name": "weights", "mountPath": "/mnt/models", "readOnly": True}
    assert mount in template["containers"][0]["volumeMounts"]


def test_a_claim_is_mounted_by_us_and_so_not_in_the_pickers_pod(make_model: MakeModel, pool: TpuPoolSettings) -> None:
    model = make_model(uri="pvc://claim/qwen/v1")
    spec = spec_of(model, pool)
    assert loading(model, pool) == {"enabled": False}
    assert "annotations" not in spec
    volume = {"name": "weights", "persistentVolumeClaim": {"claimName": "claim", "readOnly": True}}
    assert volume in spec["template"]["volumes"]
    mount = {"name": "weights", "mountPath": "/mnt/models", "readOnly": True, "subPath": "qwen/v1"}
    assert mount in spec["template"]["containers"][0]["volumeMounts"]


@pytest.mark.parametrize("uri", ["hf://Qwen/Qwen3-4B", "oci://registry.example.com/qwen:v1", "s3://bucket/qwen"])
def test_other_weights_are_left_to_kserve(make_model: MakeModel, pool: TpuPoolSettings, uri: str) -> None:
    model = make_model(uri=uri)
    spec = spec_of(model, pool)
    assert loading(model, pool) is None
    assert "/mnt/models" not in str(spec["template"]["containers"][0]["volumeMounts"])


@pytest.mark.parametrize(
    ("cache", "volume"),
    [
        (None, {"name": "xla-cache", "emptyDir": {}}),
        (
            "gs://cache/v6e",
            {
                "name": "xla-cache",
                "csi": {
                    "driver": "gcsfuse.csi.storage.gke.io",
                    "readOnly": False,
                    "volumeAttributes": {"bucketName": "cache", "mountOptions": "implicit-dirs,only-dir=v6e"},
                },
            },
        ),
    ],
)
def test_compiled_graphs_are_kept_where_the_server_looks_for_them(
    make_model: MakeModel, pool: TpuPoolSettings, cache: str | None, volume: object
) -> None:
    template = spec_of(make_model(compile_cache=cache), pool)["template"]
    server = template["containers"][0]
    assert volume in template["volumes"]
    (mount,) = [one for one in server["volumeMounts"] if one["name"] == "xla-cache"]
    assert {"name": "VLLM_XLA_CACHE_PATH", "value": mount["mountPath"]} in server["env"]


def test_a_private_image_names_the_pull_secret(make_model: MakeModel, pool: TpuPoolSettings) -> None:
    assert spec_of(make_model(private_image=True), pool)["template"]["imagePullSecrets"] == [
        {"name": "image-pull-secret"}
    ]
    assert "imagePullSecrets" not in spec_of(make_model(), pool)["template"]


@pytest.mark.parametrize("seconds", [0, 60, 3600])
def test_running_requests_may_finish_when_a_pod_goes(
    make_model: MakeModel, pool: TpuPoolSettings, seconds: int
) -> None:
    model = make_model(drain_seconds=seconds)
    arguments = serving.server_arguments(model, pool)
    assert arguments[arguments.index("--shutdown-timeout") + 1] == str(seconds)
    pod_grace = spec_of(model, pool)["template"]["terminationGracePeriodSeconds"]
    assert pod_grace > serving.PRE_STOP_SECONDS + seconds
    picker = cast("Any", serving.service(model, pool))["spec"]["router"]["scheduler"]["template"]
    assert picker["terminationGracePeriodSeconds"] >= pod_grace


@pytest.mark.parametrize(
    ("image", "knows"),
    [("r/vllm-tpu:v0.17.3", False), ("r/vllm-tpu:v0.18.0", True), ("r/vllm-tpu@sha256:" + "0" * 64, False)],
)
def test_only_servers_that_know_the_drain_argument_get_it(
    make_model: MakeModel, pool: TpuPoolSettings, image: str, knows: bool
) -> None:
    assert ("--shutdown-timeout" in serving.server_arguments(make_model(image=image), pool)) is knows


def test_a_stopped_service_is_not_waited_for(make_model: MakeModel, pool: TpuPoolSettings) -> None:
    service = cast("Any", serving.service(make_model(stopped=True), pool))
    assert service["metadata"]["annotations"] == {"serving.kserve.io/stop": "true"}
    assert "router" not in service["spec"], "its route is gone"
    assert service["spec"]["replicas"] == 3


def weights_of(model: ModelSettings) -> list[tuple[str, int | None]]:
    config = cast("Any", serving.scheduler_config(model))
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
    plugins = [
        {"type": "queue-scorer", "weight": 7, "parameters": {"x": 1}},
        {"type": "random-picker"},
    ]
    model = make_model(scheduler={"plugins": plugins})
    assert weights_of(model) == [("queue-scorer", 7), ("random-picker", None)]
    assert {"type": "queue-scorer", "parameters": {"x": 1}} in cast("Any", serving.scheduler_config(model))["plugins"]


def test_thresholds_of_a_full_replica_are_the_pickers_unless_settings_say_otherwise(make_model: MakeModel) -> None:
    silent = cast("Any", serving.scheduler_config(make_model()))
    assert "saturationDetector" not in silent
    said = {"queue_depth_threshold": 20, "kv_cache_util_threshold": 0.9, "metrics_staleness_milliseconds": 500}
    config = cast("Any", serving.scheduler_config(make_model(scheduler={"saturation": said})))
    assert config["saturationDetector"] == {"pluginRef": "utilization-detector"}
    assert config["plugins"][-1] == {
        "type": "utilization-detector",
        "parameters": {"queueDepthThreshold": 20, "kvCacheUtilThreshold": 0.9, "metricsStalenessThreshold": "500ms"},
    }
    assert config["schedulingProfiles"] == silent["schedulingProfiles"], "it gives no scores"
