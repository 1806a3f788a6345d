"""What the program relies on in KServe's own source and charts, at the pinned versions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import pytest

from llmd_gke.catalog import kserve, versions
from llmd_gke.manifests import charts, multi_host, naming, scheduler
from llmd_gke.manifests.charts import Release
from llmd_gke.rules.names import MODEL_NAME_LIMIT
from llmd_gke.settings import ModelSettings
from policies.groups import ALL
from tests.schema import sources
from tests.schema.structural import Table, table

CONTROLLER = kserve.CONTROLLER
NAME = "m" * MODEL_NAME_LIMIT


def source(module: str, file: str) -> str:
    return (sources.module(module) / file).read_text(encoding="utf-8")


def suffixes() -> set[str]:
    """What KServe appends to a service's name for the objects it makes."""
    folder: Path = sources.module(sources.KSERVE) / CONTROLLER
    texts = [file.read_text(encoding="utf-8") for file in folder.glob("*.go") if not file.name.endswith("_test.go")]
    return {suffix for text in texts for suffix in re.findall(r'ChildName\(\w+\.GetName\(\), "([^"]+)"\)', text)}


def constants() -> dict[str, str]:
    text = source(sources.KSERVE, "pkg/constants/constants.go")
    return dict(re.findall(r'^\s*(\w+)\s*=\s*"([^"]*)"', text, re.MULTILINE))


def test_the_limit_of_a_models_name_is_as_generous_as_kserve_allows() -> None:
    assert len(suffixes()) > 10
    longest = max(len(NAME + suffix) for suffix in suffixes())
    assert longest == 63, "a longer name would be cut and hashed, and nothing could refer to it"


def test_the_objects_policies_aim_at_are_named_as_kserve_names_them_and_ours_otherwise() -> None:
    suffixes_ = suffixes()
    assert kserve.inference_pool("m").removeprefix("m") in suffixes_
    assert kserve.workload_service("m").removeprefix("m") in suffixes_
    assert {naming.route("m"), naming.runtime_config("m")} & {f"m{suffix}" for suffix in suffixes_} == set()


def test_network_policies_select_labels_that_kserve_sets() -> None:
    kserve_constants = constants()
    workload = naming.workload_labels("m")
    assert workload[kserve_constants["KServeComponentLabelKey"]] == kserve_constants["KServeComponentWorkload"]
    picker = naming.picker_labels("m")
    assert picker[kserve_constants["KubernetesComponentLabelKey"]] == kserve_constants["LLMComponentRouterScheduler"]
    for labels in (workload, picker):
        assert labels[kserve_constants["KubernetesAppNameLabelKey"]] == "m"
        assert (
            labels[kserve_constants["KubernetesPartOfLabelKey"]] == kserve_constants["LLMInferenceServicePartOfValue"]
        )


def test_kserve_makes_a_group_of_as_many_pods_as_there_are_pipeline_stages() -> None:
    text = source(sources.KSERVE, "pkg/apis/serving/v1alpha2/llm_inference_service_types_func.go")
    size = text.split("func (p *ParallelismSpec) GetSize() *int32 {")[1].split("\n}\n")[0]
    assert "IsPipelineParallel() {\n\t\treturn p.Pipeline" in size
    group = source(sources.KSERVE, f"{CONTROLLER}/workload_multi_node.go")
    assert "Size: llmSvc.Spec.Parallelism.GetSize()" in group


def test_kserve_refers_to_the_preset_of_workers_and_ships_none() -> None:
    prefix, _, name = naming.WORKER_PRESET.partition("-")
    assert f'"{name}"' in source(sources.KSERVE, f"{CONTROLLER}/config_merge.go")
    assert prefix == "kserve"
    shipped = [file.name for file in (sources.module(sources.KSERVE) / "config/llmisvcconfig").iterdir()]
    assert len(shipped) > 5
    assert f"{name}.yaml" not in shipped


def test_the_policy_of_a_group_selects_labels_that_kserve_sets() -> None:
    labels = constants()
    (expression,) = cast("list[Table]", naming.group_selector("m")["matchExpressions"])
    assert expression["key"] == labels["KubernetesComponentLabelKey"]
    assert expression["values"] == [labels["LLMComponentWorkloadLeader"], labels["LLMComponentWorkloadWorker"]]
    group = source(sources.KSERVE, f"{CONTROLLER}/workload_multi_node.go")
    workers = group.split("workerLabels := map[string]string{")[1].split("}")[0]
    assert "KServeComponentLabelKey" not in workers, "a worker beside a leader gets no requests"


def test_kserve_hands_the_exclusive_topology_on_to_leaderworkerset() -> None:
    prefix, _, _ = multi_host.EXCLUSIVE.partition("/")
    assert f'"{prefix}"' in source(sources.KSERVE, f"{CONTROLLER}/workload_multi_node.go")
    types = source(sources.LWS, "api/leaderworkerset/v1/leaderworkerset_types.go")
    assert f'"{multi_host.EXCLUSIVE}"' in types
    for variable in ("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE"):
        assert f'"{variable}"' in types
        assert variable in multi_host.SCRIPT.read_text(encoding="utf-8")


def test_leaderworkerset_updates_a_group_in_its_own_place() -> None:
    """So that a slice needs no spare one: KServe says nothing about it, and this is the default."""
    webhook = source(sources.LWS, "pkg/webhooks/leaderworkerset_webhook.go")
    assert re.search(r"MaxUnavailable: intstr.FromInt32\(1\),\s*MaxSurge: +intstr.FromInt32\(0\)", webhook)
    group = source(sources.KSERVE, f"{CONTROLLER}/workload_multi_node.go")
    assert "RollingUpdateConfiguration" not in group
    assert "RecreateGroupOnPodRestart" in group


def test_leaderworkerset_tells_a_tpu_pod_its_place_in_the_slice() -> None:
    text = source(sources.LWS, "pkg/utils/accelerators/tpu.go")
    assert all(f'"{name}"' in text for name in ("TPU_WORKER_ID", "TPU_WORKER_HOSTNAMES", "google.com/tpu"))


def test_kserve_merges_what_a_pod_says_about_the_container_that_downloads() -> None:
    text = source(sources.KSERVE, f"{CONTROLLER}/workload_storage.go")
    attach = text.split("func (r *LLMISVCReconciler) attachStorageInitializer(")[1].split("\n}\n")[0]
    assert "extractAndStripStorageInitializer(podSpec)" in attach
    assert "MergeContainerWithPatch(*initContainer, *userOverride)" in attach
    assert constants()["StorageInitializerContainerName"] == "storage-initializer"
    assert "attachModelArtifacts(" in source(sources.KSERVE, f"{CONTROLLER}/scheduler.go"), "the picker downloads, too"


def test_kserve_scales_through_the_retired_autoscaler_only() -> None:
    """When this fails, a KServe has come that can scale otherwise: the settings may offer it."""
    types = source(sources.KSERVE, "pkg/apis/serving/v1alpha2/llm_inference_service_types.go")
    fields = types.split("type ScalingSpec struct {")[1].split("\n}\n")[0]
    assert re.findall(r"^\t(\w+) .*`json", fields, re.M) == ["MinReplicas", "MaxReplicas", "WVA"]
    rules_ = source(sources.KSERVE, "pkg/apis/serving/v1alpha2/llm_inference_service_validation.go")
    assert "wva is required when scaling is configured" in rules_
    assert "ScalingCRDNotFound" in source(sources.KSERVE, f"{CONTROLLER}/workload.go")


def go_fields(module: str, file: str, struct: str) -> set[str]:
    body = source(module, file).split(f"type {struct} struct {{")[1].split("\n}\n")[0]
    return set(re.findall(r'`json:"(\w+)', body))


def test_the_pickers_configuration_has_the_fields_that_its_schema_has() -> None:
    file = "apix/config/v1alpha1/endpointpickerconfig_types.go"
    detector = "pkg/epp/framework/plugins/flowcontrol/saturationdetector/utilization"
    saturation = {
        "queueDepthThreshold": 9,
        "kvCacheUtilThreshold": 0.5,
        "metricsStalenessMilliseconds": 300,
        "headroom": 0.1,
    }
    model = ModelSettings.model_validate(
        {"name": "m", "uri": "hf://a/b", "pool": "p", "scheduler": {"saturation": saturation}}
    )
    config = scheduler.scheduler_config(model)
    assert set(config) - {"apiVersion", "kind"} <= go_fields(sources.INFERENCE_EXTENSION, file, "EndpointPickerConfig")
    (limits,) = [table(one) for one in cast("list[Table]", config["plugins"]) if "parameters" in one]
    assert set(limits) <= go_fields(sources.INFERENCE_EXTENSION, file, "PluginSpec")
    fields_ = go_fields(sources.INFERENCE_EXTENSION, f"{detector}/config.go", "apiConfig")
    assert set(table(limits["parameters"])) == fields_, "every threshold of the detector is a setting, and no other"
    assert f'"{limits["type"]}"' in source(sources.INFERENCE_EXTENSION, f"{detector}/detector.go")
    assert table(config["saturationDetector"]) == {"pluginRef": limits["type"]}


def test_kserves_webhook_looks_at_workers_of_services_only_and_refuses_another_size() -> None:
    folder = "pkg/apis/serving/v1alpha2"
    text = source(sources.KSERVE, f"{folder}/llm_inference_service_validation.go")
    assert "when worker is specified" in text
    assert "total parallelism size is immutable" in text
    assert "orker" not in source(sources.KSERVE, f"{folder}/llm_inference_service_config_validation.go")


def test_the_picker_is_the_pinned_one_and_listens_where_network_policies_open() -> None:
    preset = source(sources.KSERVE, "config/llmisvcconfig/config-llm-scheduler.yaml")
    ports = {int(port) for port in re.findall(r"containerPort: (\d+)", preset)}
    assert {kserve.PICKER_PORT, kserve.PICKER_HEALTH_PORT, kserve.PICKER_METRICS_PORT} <= ports
    assert versions.image("endpoint-picker") in preset


RELEASES: dict[str, tuple[str, Release]] = {
    "lws": (sources.LWS, charts.lws()),
    "kserve-llmisvc-crd": (sources.KSERVE, charts.kserve_crds()),
    "kserve-llmisvc-resources": (sources.KSERVE, charts.kserve_controller()),
    "kserve-runtime-configs": (sources.KSERVE, charts.kserve_presets()),
}


def strangers(ours: object, theirs: object, path: str = "") -> list[str]:
    """Keys of our values that a chart does not have."""
    if not isinstance(ours, dict) or theirs in ({}, [], "", None):
        return []
    fields_ = table(theirs)
    result: list[str] = []
    for key, value in cast("Table", ours).items():
        where = f"{path}.{key}".strip(".")
        result += strangers(value, fields_[key], where) if key in fields_ else [where]
    return result


@pytest.mark.parametrize("chart", RELEASES)
def test_every_value_we_set_exists_in_the_chart(chart: str) -> None:
    module, release = RELEASES[chart]
    assert strangers(release.values, sources.chart_values(module, chart)) == []


def test_a_value_the_chart_does_not_have_is_noticed() -> None:
    theirs = sources.chart_values(sources.KSERVE, "kserve-llmisvc-resources")
    wrong: Table = {"kserve": {"llmisvc": {"createGIECRD": False}, "controller": {"gateway": {"urlSheme": "http"}}}}
    assert strangers(wrong, theirs) == ["kserve.llmisvc.createGIECRD", "kserve.controller.gateway.urlSheme"]


@pytest.mark.parametrize("chart", RELEASES)
def test_the_pinned_chart_and_the_pinned_module_are_one_version(chart: str) -> None:
    module, release = RELEASES[chart]
    assert str(release.version).removeprefix("v") == versions.modules()[module].removeprefix("v")


def test_the_files_that_policies_cite_exist_at_the_pinned_version() -> None:
    cited = {
        link.split(f"/{kserve.release()}/")[1]
        for rule in ALL
        for link in rule.sources
        if link.startswith("https://github.com/kserve/kserve/") and f"/{kserve.release()}/" in link
    }
    assert len(cited) > 5
    assert {path for path in cited if not (sources.module(sources.KSERVE) / path).exists()} == set()
