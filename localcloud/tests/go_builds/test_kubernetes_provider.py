"""Pulumi's Kubernetes provider is built without the component resources that this project does not use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from llmd_common.problems import SetUpFailed
from localcloud.go_builds import kubernetes_provider

ROOT = Path(__file__).resolve().parents[3]
PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
TABLE = f"""package provider

import (
	"context"

	providerhelmv4 "{PROVIDER}/helm/v4"
	providerkustomizev2 "{PROVIDER}/kustomize/v2"
	providerresource "{PROVIDER}/resource"
	provideryamlv2 "{PROVIDER}/yaml/v2"
)

// resourceProviders contains factories for component resource providers.
var resourceProviders = map[string]providerresource.ResourceProviderFactory{{
	"kubernetes:yaml/v2:ConfigFile":     provideryamlv2.NewConfigFileProvider,
	"kubernetes:yaml/v2:ConfigGroup":    provideryamlv2.NewConfigGroupProvider,
	"kubernetes:helm.sh/v4:Chart":       providerhelmv4.NewChartProvider,
	"kubernetes:kustomize/v2:Directory": providerkustomizev2.NewDirectoryProvider,
}}
"""
WITHOUT = f"""package provider

import (
	"context"

	providerresource "{PROVIDER}/resource"
)

// resourceProviders contains factories for component resource providers.
var resourceProviders = map[string]providerresource.ResourceProviderFactory{{
}}
"""


def module(folder: Path, table: str = TABLE) -> Path:
    for component in kubernetes_provider.COMPONENTS:
        (folder / "pkg" / "provider" / component).mkdir(parents=True)
        (folder / "pkg" / "provider" / component / "component.go").write_text("package component\n")
    (folder / kubernetes_provider.TABLE).write_text(table)
    (folder / "pkg" / "provider" / "helm_release.go").write_text("package provider\n")
    return folder


def test_components_are_left_out_with_their_imports_and_their_entries_in_the_table(tmp_path: Path) -> None:
    assert kubernetes_provider.without_components(module(tmp_path)) == {
        "pkg/provider/helm/v4/component.go": None,
        "pkg/provider/kustomize/v2/component.go": None,
        "pkg/provider/yaml/v2/component.go": None,
        "pkg/provider/provider_construct.go": WITHOUT,
    }


@pytest.mark.parametrize(
    "table",
    [
        TABLE.replace("pkg/provider/helm/v4", "pkg/provider/helm/v5"),
        TABLE.replace("var resourceProviders = ", "var resourceProviders = f(providerhelmv4.New) // "),
        TABLE.replace(".New", "().New"),
    ],
)
def test_a_version_with_another_table_is_refused_with_the_file_to_correct(tmp_path: Path, table: str) -> None:
    with pytest.raises(SetUpFailed, match=r"Fix: correct localcloud/go_builds/kubernetes_provider\.py"):
        kubernetes_provider.without_components(module(tmp_path, table))


def test_the_program_uses_none_of_the_components_that_are_left_out() -> None:
    sources = [ROOT / "__main__.py", *(ROOT / "components").rglob("*.py"), *(ROOT / "charts").rglob("*.py")]
    assert len(sources) > 10
    left_out = r"helm\.v4|yaml\.v2|kustomize\.v2|\b(?:ConfigFile|ConfigGroup|Directory|Chart)\("
    used = {str(file.relative_to(ROOT)): one for file in sources for one in re.findall(left_out, file.read_text())}
    assert used == {}
