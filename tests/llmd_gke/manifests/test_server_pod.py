"""The pods of a model by its TPU configuration: chips, probes, weights, caches, rights, their end."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmd_gke.catalog import accelerators, kserve
from llmd_gke.manifests import identity, server_pod, serving
from llmd_gke.settings import ModelSettings, PoolSettings
from llmd_gke.settings.sections.adapters import AdapterSettings
from tests.llmd_gke.manifests.conftest import MakeModel, MakePool, container

SINGLE_HOSTS = [
    (shape.machine.name, shape.topology)
    for family in accelerators.FAMILIES
    for shape in family.slices()
    if not shape.multi_host
]


def spec_of(model: ModelSettings, pool: PoolSettings) -> dict[str, Any]:
    return cast("Any", serving.runtime_config(model, pool))["spec"]


def loading(model: ModelSettings, pool: PoolSettings) -> object:
    return cast("Any", serving.service(model, pool))["spec"].get("storageInitializer")


@pytest.mark.parametrize(("machine", "topology"), SINGLE_HOSTS)
def test_a_pod_takes_every_chip_of_its_host_and_fits_beside_the_system(
    make_model: MakeModel, make_pool: MakePool, machine: str, topology: str
) -> None:
    pool = make_pool(machine_type=machine, topology=topology)
    host = pool.slice.machine
    resources = container(make_model(), pool)["resources"]
    kind = "google.com/tpu" if "x" in topology else "nvidia.com/gpu"
    assert resources["limits"] == {kind: str(host.chips)}
    assert resources["requests"][kind] == str(host.chips)
    assert 0 < int(resources["requests"]["cpu"]) < host.vcpus
    assert 0 < int(resources["requests"]["memory"].removesuffix("G")) < host.memory_gb
    devices = host.chips * (2 if machine.startswith("tpu7x") else 1)
    assert server_pod.tensor_parallel(make_model(), pool) == devices
    assert server_pod.tensor_parallel(make_model(extra_args=("--data-parallel-size=1",)), pool) == devices


@pytest.mark.parametrize(
    ("host", "name", "value", "memory"),
    [
        (("ct6e-standard-4t", "2x2"), "--kv-transfer-config", "TPUOffloadConnector", 360 + 100),
        (("g2-standard-96", None), "--kv-offloading-size", "93.13", 192 + 100),
    ],
)
def test_kv_cache_in_the_hosts_memory_is_requested_beside_the_servers_own(
    host: tuple[str, str | None], name: str, value: str, memory: int
) -> None:
    machine, topology = host
    pool = PoolSettings(name="pool", machine_type=machine, topology=topology, max_nodes=2)
    blocks = 3000 if topology else None
    uri = "hf://Qwen/Qwen3-4B"
    model = ModelSettings(name="qwen", uri=uri, pool="pool", kv_offload_gb=100, kv_offload_blocks=blocks)
    server = container(model, pool)
    assert value in server["args"][server["args"].index(name) + 1]
    assert server["resources"]["requests"]["memory"] == f"{memory}G"
    counts = [one["value"] for one in server["env"] if one["name"] == "TPU_OFFLOAD_NUM_CPU_CHUNKS"]
    assert counts == (["3000"] if topology else [])


@pytest.mark.parametrize("host", [("ct6e-standard-1t", "1x1"), ("g2-standard-8", None)])
def test_adapters_are_mounted_or_downloaded_and_loaded_by_their_names(host: tuple[str, str | None]) -> None:
    machine, topology = host
    pool = PoolSettings(name="pool", machine_type=machine, topology=topology, max_nodes=2)
    places = {"sql": "gs://mine/sql", "own": "pvc://claim/own", "sea": "hf://me/sea"}
    adapters = tuple(AdapterSettings(name=name, uri=uri) for name, uri in places.items())
    model = ModelSettings(name="qwen", uri="hf://Qwen/Qwen3-4B", pool="pool", adapters=adapters, adapter_rank=32)
    server, service = container(model, pool), cast("Any", serving.service(model, pool))["spec"]
    words = server["args"]
    assert words[words.index("--max-lora-rank") + 1] == "32"
    loaded = [json.loads(word) for word in words[words.index("--lora-modules") + 1 :]]
    assert {one["name"]: one["path"] for one in loaded} == {name: f"/mnt/lora/{name}" for name in places}
    mounted = {mount["mountPath"] for mount in server["volumeMounts"]}
    assert {f"/mnt/lora/{name}" for name in places} & mounted == {"/mnt/lora/sql", "/mnt/lora/own"}
    assert service["model"]["lora"] == {"adapters": [{"name": "sea", "uri": "hf://me/sea"}]}
    assert {"name": "MODEL_IMPL_TYPE", "value": "vllm"} in server["env"] or topology is None
    assert [grant.bucket for grant in identity.grants(model)] == ["mine"]
    picker = service["router"]["scheduler"]["config"]["inline"]
    assert {"pluginRef": "lora-affinity-scorer", "weight": 4} in picker["schedulingProfiles"][0]["plugins"]


def test_a_pod_selects_its_pool_accelerator_topology_and_count(model: ModelSettings, pool: PoolSettings) -> None:
    assert server_pod.node_selector(pool) == {
        "cloud.google.com/gke-nodepool": pool.name,
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        "cloud.google.com/gke-tpu-topology": "2x2",
        "cloud.google.com/gke-accelerator-count": "4",
    }
    template = cast("Any", serving.runtime_config(model, pool))["spec"]["template"]
    assert template["nodeSelector"] == server_pod.node_selector(pool)
    assert template["tolerations"] == [{"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}]


@given(minutes=some.integers(15, 180))
def test_the_startup_probe_gives_exactly_the_models_budget(minutes: int) -> None:
    model = ModelSettings(name="m", uri="hf://a/b", pool="p", startup_minutes=minutes)
    pool = PoolSettings(name="p", machine_type="ct6e-standard-4t", topology="2x2", max_nodes=4)
    probe = container(model, pool)["startupProbe"]
    assert probe["failureThreshold"] * probe["periodSeconds"] == minutes * 60


def test_probes_ask_over_plain_http(model: ModelSettings, pool: PoolSettings) -> None:
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container(model, pool)[probe]
        assert asked["httpGet"] == {"path": "/health", "port": 8000, "scheme": "HTTP"}
        assert asked["timeoutSeconds"] <= asked["periodSeconds"]


def test_a_pod_is_ready_only_after_its_first_completion(make_model: MakeModel, pool: PoolSettings) -> None:
    containers = spec_of(make_model(served_model_name="Qwen/Qwen3-4B"), pool)["template"]["containers"]
    assert [one["name"] for one in containers] == ["main", "warm-up"]
    warm = containers[1]
    assert warm["args"] == ["8000", "Qwen/Qwen3-4B", "/run/warm-up/done"]
    assert warm["readinessProbe"]["exec"]["command"][-1] == warm["args"][-1]
    assert "google.com/tpu" not in str(warm["resources"]), "a TPU pod asks for its chips in one container"
    without = spec_of(make_model(warm_up=False), pool)["template"]["containers"]
    assert [one["name"] for one in without] == ["main"]


def test_weights_in_a_bucket_are_mounted_past_kserve(make_model: MakeModel, pool: PoolSettings) -> None:
    model = make_model(uri="gs://weights/qwen/v1/")
    spec = spec_of(model, pool)
    template = spec["template"]
    assert loading(model, pool) == {"enabled": False}, "KServe refuses gs://"
    (volume,) = [one for one in template["volumes"] if one["name"] == "weights"]
    assert (volume["csi"]["driver"], volume["csi"]["readOnly"]) == ("gcsfuse.csi.storage.gke.io", True)
    attributes = volume["csi"]["volumeAttributes"]
    assert attributes["bucketName"] == "weights"
    assert attributes["mountOptions"].split(",")[:2] == ["implicit-dirs", "only-dir=qwen/v1"]
    mount = {"name": "weights", "mountPath": "/mnt/models", "readOnly": True}
    assert mount in template["containers"][0]["volumeMounts"]


FETCHED_AHEAD = {
    "file-cache:max-size-mb:0",
    "read:enable-buffered-read:true",
    "read:global-max-blocks:80",
    "read_ahead_kb=131072",
}
CACHED = {"file-cache:max-size-mb:-1", "file-cache:enable-parallel-downloads:true"}


@pytest.mark.parametrize(("cached", "expected"), [(False, FETCHED_AHEAD), (True, CACHED)])
def test_weights_in_a_bucket_are_fetched_ahead_or_into_a_file_cache(
    make_model: MakeModel, pool: PoolSettings, *, cached: bool, expected: set[str]
) -> None:
    model = make_model(uri="gs://weights/qwen/v1", compile_cache="gs://cache/v6e", parallel_download=cached)
    spec = spec_of(model, pool)
    options = {
        volume["csi"]["volumeAttributes"]["bucketName"]: volume["csi"]["volumeAttributes"]["mountOptions"].split(",")
        for volume in spec["template"]["volumes"]
        if "csi" in volume
    }
    assert options["cache"] == ["implicit-dirs", "only-dir=v6e"], "graphs are also written"
    unchanged = {"metadata-cache:ttl-secs:-1", "file-system:kernel-list-cache-ttl-secs:-1"}
    assert set(options["weights"]) - {"implicit-dirs", "only-dir=qwen/v1"} == expected | unchanged
    assert {name: value for name, value in spec["annotations"].items() if "fuse" in name} == {
        "gke-gcsfuse/volumes": "true",
        "gke-gcsfuse/cpu-limit": "0",
        "gke-gcsfuse/memory-limit": "0",
        "gke-gcsfuse/ephemeral-storage-limit": "0",
    }, "the driver's defaults are less than most weights, and less than what is fetched ahead"


def test_a_claim_is_mounted_by_us_and_so_not_in_the_pickers_pod(make_model: MakeModel, pool: PoolSettings) -> None:
    model = make_model(uri="pvc://claim/qwen/v1")
    spec = spec_of(model, pool)
    assert loading(model, pool) == {"enabled": False}
    assert "gke-gcsfuse/volumes" not in spec["annotations"]
    volume = {"name": "weights", "persistentVolumeClaim": {"claimName": "claim", "readOnly": True}}
    assert volume in spec["template"]["volumes"]
    mount = {"name": "weights", "mountPath": "/mnt/models", "readOnly": True, "subPath": "qwen/v1"}
    assert mount in spec["template"]["containers"][0]["volumeMounts"]


@pytest.mark.parametrize("uri", ["hf://Qwen/Qwen3-4B", "oci://registry.example.com/qwen:v1", "s3://bucket/qwen"])
def test_other_weights_are_left_to_kserve(make_model: MakeModel, pool: PoolSettings, uri: str) -> None:
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
    make_model: MakeModel, pool: PoolSettings, cache: str | None, volume: object
) -> None:
    template = spec_of(make_model(compile_cache=cache), pool)["template"]
    server = template["containers"][0]
    assert volume in template["volumes"]
    (mount,) = [one for one in server["volumeMounts"] if one["name"] == "xla-cache"]
    assert {"name": "VLLM_XLA_CACHE_PATH", "value": mount["mountPath"]} in server["env"]


def test_a_private_image_names_the_pull_secret(make_model: MakeModel, pool: PoolSettings) -> None:
    assert spec_of(make_model(private_image=True), pool)["template"]["imagePullSecrets"] == [
        {"name": "image-pull-secret"}
    ]
    assert "imagePullSecrets" not in spec_of(make_model(), pool)["template"]


@pytest.mark.parametrize("seconds", [0, 60, 3585])
def test_running_requests_may_finish_when_a_pod_goes(make_model: MakeModel, pool: PoolSettings, seconds: int) -> None:
    model = make_model(drain_seconds=seconds)
    arguments = server_pod.server_arguments(model, pool)
    assert arguments[arguments.index("--shutdown-timeout") + 1] == str(seconds)
    pod_grace = spec_of(model, pool)["template"]["terminationGracePeriodSeconds"]
    assert pod_grace > kserve.PRE_STOP_SECONDS + seconds
    picker = cast("Any", serving.service(model, pool))["spec"]["router"]["scheduler"]["template"]
    assert picker["terminationGracePeriodSeconds"] >= pod_grace


def test_a_pod_has_its_own_account_and_no_token_for_the_api_server(model: ModelSettings, pool: PoolSettings) -> None:
    config = cast("Any", serving.runtime_config(model, pool, account="llmd-qwen"))
    template = config["spec"]["template"]
    assert (template["serviceAccountName"], template["automountServiceAccountToken"]) == ("llmd-qwen", False)


def test_a_server_on_t4_computes_in_half_precision_with_a_backend_that_t4_has(make_model: MakeModel) -> None:
    pool = PoolSettings(name="t4", machine_type="n1-standard-8", gpus=2, max_nodes=2)
    made = container(make_model(image="docker.io/vllm/vllm-openai:v0.27.0"), pool)
    text = " ".join(made["args"])
    assert "--tensor-parallel-size 2" in text
    assert "--dtype float16 --attention-backend TRITON_ATTN" in text
    assert made["resources"]["limits"] == {"nvidia.com/gpu": "2"}
    own = container(make_model(extra_args=("--attention-backend=FLEX_ATTENTION",)), pool)
    assert "TRITON_ATTN" not in own["args"]
