"""The chart folder: the published charts, at the catalogue's versions."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from llmd_gke.catalog import versions
from llmd_gke.manifests import charts as releases
from llmd_gke.manifests import istio
from llmd_gke.manifests.charts import Release
from localcloud.go_builds import charts, modules

FOLDER_RELEASES = {make().name: make for make in (*releases.PLATFORM, istio.base, istio.cni, istio.controller)}
FREE = ("env", "meshConfig", "limits", "platform")
"""Values of Istio's that have any keys, and the profile, which ``values.yaml`` does not name."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("go") is None:
        pytest.skip("Go is not installed: it brings the modules with the charts")
    return charts.prepare(tmp_path_factory.mktemp("charts"), front_door=True, istio=True)


def load(file: Path) -> dict[str, Any]:
    return cast("dict[str, Any]", yaml.safe_load(file.read_text()))


@pytest.mark.parametrize("name", FOLDER_RELEASES)
def test_every_release_of_the_platform_finds_its_chart_in_the_folder(folder: Path, name: str) -> None:
    release: Release = FOLDER_RELEASES[name](str(folder))
    about = load(Path(release.chart) / "Chart.yaml")
    assert (about["name"], about["version"]) == (name.removeprefix("istio-"), versions.chart(name).version)


@pytest.mark.parametrize("name", charts.FRONT_DOOR)
def test_a_chart_of_the_front_door_has_the_version_of_the_release_and_says_that_of_its_program(
    folder: Path, name: str
) -> None:
    about = load(folder / name / "Chart.yaml")
    assert (about["name"], about["version"], about["appVersion"]) == (
        name,
        versions.chart(name).version,
        charts.module_version(name),
    )


def paths(values: dict[str, Any], prefix: str = "") -> list[str]:
    result: list[str] = []
    for key, value in values.items():
        where = f"{prefix}{key}"
        result += paths(value, f"{where}.") if isinstance(value, dict) and value else [where]
    return result


@pytest.mark.parametrize("name", FOLDER_RELEASES)
def test_every_value_that_the_program_sets_is_one_the_chart_knows(folder: Path, name: str) -> None:
    release = FOLDER_RELEASES[name](str(folder))
    defaults = load(folder / name / "values.yaml") or {}
    defaults = defaults.get("_internal_defaults_do_not_set", defaults)

    def is_known(path: str) -> bool:
        level: Any = defaults
        for part in path.split("."):
            if level == {} or part in FREE:
                return True
            if not isinstance(level, dict) or part not in level:
                return False
            level = cast("dict[str, Any]", level)[part]
        return True

    assert [path for path in paths(release.values) if not is_known(path)] == []


def test_a_chart_of_another_version_is_replaced(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "charts"
    shutil.copytree(folder, copy)
    (copy / "lws" / modules.STAMP).write_text("sigs.k8s.io/lws@v0.7.0 charts/lws\n")
    (copy / "lws" / "templates" / "of-the-old-version.yaml").write_text("")
    charts.prepare(copy)
    assert not (copy / "lws" / "templates" / "of-the-old-version.yaml").exists()
    assert (copy / "lws" / modules.STAMP).read_text() == (folder / "lws" / modules.STAMP).read_text()
