"""What the program relies on in KServe's own source and charts, at the pinned versions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import pytest

from llmd_gke.catalog import versions
from llmd_gke.checks.names import MODEL_NAME_LIMIT
from llmd_gke.manifests import charts, naming
from llmd_gke.manifests.charts import Release
from tests.schema import sources
from tests.schema.structural import Table, table

CONTROLLER = "pkg/controller/v1alpha2/llmisvc"
NAME = "m" * MODEL_NAME_LIMIT


def suffixes() -> set[str]:
    """What KServe appends to a service's name for the objects it makes."""
    folder: Path = sources.module(sources.KSERVE) / CONTROLLER
    texts = [file.read_text(encoding="utf-8") for file in folder.glob("*.go") if not file.name.endswith("_test.go")]
    return {suffix for text in texts for suffix in re.findall(r'ChildName\(\w+\.GetName\(\), "([^"]+)"\)', text)}


def constants() -> dict[str, str]:
    text = (sources.module(sources.KSERVE) / "pkg/constants/constants.go").read_text(encoding="utf-8")
    return dict(re.findall(r'^\s*(\w+)\s*=\s*"([^"]*)"', text, re.MULTILINE))


def test_every_name_kserve_makes_of_the_longest_model_name_stays_whole() -> None:
    found = suffixes()
    assert len(found) > 10
    too_long = {suffix for suffix in found if len(NAME + suffix) > 63}
    assert too_long == set(), "such a name would be cut and hashed, and nothing could refer to it"


def test_the_limit_of_a_models_name_is_as_generous_as_kserve_allows() -> None:
    assert max(len(NAME + suffix) for suffix in suffixes()) == 63


def test_the_objects_policies_aim_at_are_named_as_kserve_names_them() -> None:
    found = suffixes()
    assert naming.inference_pool("m").removeprefix("m") in found
    assert naming.workload_service("m").removeprefix("m") in found


def test_our_own_names_are_not_among_those_kserve_manages() -> None:
    assert {naming.route("m"), naming.tpu_config("m")} & {f"m{suffix}" for suffix in suffixes()} == set()


def test_network_policies_select_labels_that_kserve_sets() -> None:
    known = constants()
    workload = naming.workload_labels("m")
    assert workload[known["KServeComponentLabelKey"]] == known["KServeComponentWorkload"]
    picker = naming.picker_labels("m")
    assert picker[known["KubernetesComponentLabelKey"]] == known["LLMComponentRouterScheduler"]
    for labels in (workload, picker):
        assert labels[known["KubernetesAppNameLabelKey"]] == "m"
        assert labels[known["KubernetesPartOfLabelKey"]] == known["LLMInferenceServicePartOfValue"]


def test_the_picker_listens_where_network_policies_open() -> None:
    preset = sources.module(sources.KSERVE) / "config/llmisvcconfig/config-llm-scheduler.yaml"
    ports = {int(port) for port in re.findall(r"containerPort: (\d+)", preset.read_text(encoding="utf-8"))}
    assert {naming.PICKER_PORT, naming.PICKER_HEALTH_PORT} <= ports


def test_the_pinned_picker_is_the_one_kserve_brings() -> None:
    preset = sources.module(sources.KSERVE) / "config/llmisvcconfig/config-llm-scheduler.yaml"
    assert versions.image("endpoint-picker") in preset.read_text(encoding="utf-8")


def test_kserves_webhook_refuses_what_our_services_never_do() -> None:
    text = (sources.module(sources.KSERVE) / "pkg/apis/serving/v1alpha2/llm_inference_service_validation.go").read_text(
        encoding="utf-8"
    )
    assert "cannot use both custom HTTPRoute refs" in text
    assert "cannot be used with a managed gateway" in text


def refused_by_webhook(service: Table) -> list[str]:
    """The two rules about routers that are in KServe's webhook and not in its CRD."""
    router = table(table(service["spec"]).get("router", {}))
    http, gateway = table(table(router.get("route", {})).get("http", {})), router.get("gateway")
    found: list[str] = []
    if http.get("refs") and "spec" in http:
        found.append("refs and spec")
    if http.get("refs") and gateway == {}:
        found.append("refs with a managed gateway")
    return found


def test_our_services_pass_kserves_rules_about_routers(emitted: list[Table]) -> None:
    services = [thing for thing in emitted if thing["kind"] == "LLMInferenceService"]
    assert services
    assert [refused_by_webhook(service) for service in services if refused_by_webhook(service)] == []


def test_a_service_with_route_refs_and_a_route_spec_is_refused(one: dict[str, Table]) -> None:
    service = one["LLMInferenceService"]
    http = table(table(table(table(service["spec"])["router"])["route"])["http"])
    http["spec"] = {"rules": []}
    assert refused_by_webhook(service) == ["refs and spec"]


def test_a_service_with_route_refs_and_a_managed_gateway_is_refused(one: dict[str, Table]) -> None:
    service = one["LLMInferenceService"]
    table(table(service["spec"])["router"])["gateway"] = {}
    assert refused_by_webhook(service) == ["refs with a managed gateway"]


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
    known = table(theirs)
    found: list[str] = []
    for key, value in cast("Table", ours).items():
        where = f"{path}.{key}".strip(".")
        found += strangers(value, known[key], where) if key in known else [where]
    return found


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
