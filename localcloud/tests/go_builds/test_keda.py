"""KEDA is built with few of its scalers, and its chart is made of the manifests in its module."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from llmd_common.problems import SetUpFailed
from llmd_gke.catalog import scaling, versions
from llmd_gke.manifests import keda as product
from localcloud import binaries
from localcloud.go_builds import keda_chart, modules

MODULE = "github.com/kedacore/keda/v2"


@pytest.fixture(scope="module")
def kubectl() -> Path:
    if shutil.which("go") is None:
        pytest.skip("Go is not installed: it brings the module with the manifests")
    try:
        return binaries.path("kubectl")
    except SetUpFailed as problem:
        pytest.skip(str(problem))


@pytest.fixture(scope="module")
def chart(kubectl: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    del tmp_path_factory
    version = versions.archive(scaling.KEDA_CHART).version
    return keda_chart.files(modules.folder(MODULE, f"v{version}"), kubectl, version)


def values() -> dict[str, Any]:
    return cast("dict[str, Any]", product.release("demo").values)


def rendered(template: str) -> dict[str, Any]:
    """A template of the chart with the values of the program: it uses no more of Helm than this."""

    def value(match: re.Match[str]) -> str:
        inner: Any = {"Values": values(), "Chart": {"AppVersion": "2.21.0"}}
        for part in match[2].removeprefix(".").split("."):
            inner = inner[part]
        return yaml.safe_dump(inner, default_flow_style=True, width=100_000).removesuffix("...\n").strip()

    return yaml.safe_load(re.sub(r"\{\{ (toJson )?(\S+) \}\}", value, template))


def objects(chart: dict[str, str]) -> dict[tuple[str, str], dict[str, Any]]:
    made = [rendered(text) for name, text in chart.items() if name.startswith("templates/")]
    return {(one["kind"], one["metadata"]["name"]): one for one in made}


def test_names_and_labels_are_those_of_the_published_chart_which_the_programs_policies_select(
    chart: dict[str, str],
) -> None:
    made = objects(chart)
    for name in (scaling.KEDA_OPERATOR, scaling.KEDA_METRICS):
        deployment, service = made[("Deployment", name)], made[("Service", name)]
        assert deployment["spec"]["template"]["metadata"]["labels"]["app"] == name
        assert service["spec"]["selector"] == {"app": name}
    api = made[("APIService", "v1beta1.external.metrics.k8s.io")]
    assert api["spec"]["service"] == {"name": scaling.KEDA_METRICS, "namespace": scaling.KEDA_NAMESPACE}
    arguments = made[("Deployment", scaling.KEDA_OPERATOR)]["spec"]["template"]["spec"]["containers"][0]["args"]
    assert f"--metrics-server-service-name={scaling.KEDA_METRICS}" in arguments
    images = {
        one["spec"]["template"]["spec"]["containers"][0]["image"]
        for (kind, _), one in made.items()
        if kind == "Deployment"
    }
    assert images == {
        "ghcr.io/kedacore/keda:2.21.0",
        "ghcr.io/kedacore/keda-metrics-apiserver:2.21.0",
        "ghcr.io/kedacore/keda-admission-webhooks:2.21.0",
    }
    assert not [kind for kind, _ in made if kind == "Namespace"], "the program makes it"
