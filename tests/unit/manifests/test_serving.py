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
    (found,) = cast("Any", serving.tpu_config(model, pool))["spec"]["template"]["containers"]
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
        "--max-num-seqs", "64", "--max-num-batched-tokens", "4096", "--dtype", "bfloat16",
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


def test_a_pod_selects_accelerator_topology_and_count(model: ModelSettings, pool: TpuPoolSettings) -> None:
    assert serving.node_selector(pool) == {
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
def test_the_picker_scores_prefixes_only_where_the_server_caches_them(caching: bool) -> None:
    config = cast("Any", serving.scheduler_config(caching))
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
