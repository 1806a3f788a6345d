"""Upstream's CRDs are there before the cluster starts, since nothing inside can fetch them."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from llmd_common.problems import SetUpFailed
from llmd_gke.catalog import versions
from localcloud import binaries
from localcloud.cluster import lifecycle
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir
from localcloud.gke_gateway.crds import install, upstream
from localcloud.go_builds import charts, modules

CRD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: NAME}\n"


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every module that is asked for; each has the files that are wanted of it."""
    result: list[str] = []

    def folder(module: str, version: str) -> Path:
        result.append(f"{module}@{version}")
        unpacked = tmp_path / "modules" / module
        for file in upstream.FILES[module]:
            (unpacked / file).parent.mkdir(parents=True, exist_ok=True)
            (unpacked / file).write_text(CRD.replace("NAME", Path(file).stem))
        return unpacked

    monkeypatch.setattr(modules, "folder", folder)
    return result


@pytest.fixture
def without_go(monkeypatch: pytest.MonkeyPatch) -> None:
    def folder(module: str, version: str) -> Path:
        raise AssertionError(f"{module}@{version} was asked for")

    monkeypatch.setattr(modules, "folder", folder)


def test_both_modules_are_fetched_before_the_cluster_starts(
    tmp_path: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def built(_names: object, _console: Console) -> None:
        return

    monkeypatch.setattr(binaries, "ensure", built)
    monkeypatch.setattr(charts, "prepare", lambda folder, **_: folder)  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
    home = tmp_path / ".laptop"
    lifecycle.ensure_binaries(Workdir(tmp_path, home, "laptop"), Console(quiet=True))
    wanted = (upstream.GATEWAY_API, upstream.INFERENCE_EXTENSION)
    assert asked == [f"{module}@{versions.modules()[module]}" for module in wanted]
    assert len(upstream.definitions(Layout(home).crds)) == len(upstream.GATEWAY_KINDS) + 1


@pytest.mark.usefixtures("asked")
def test_what_is_laid_out_is_installed_without_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = upstream.prepare(tmp_path / "crds")
    monkeypatch.setattr(modules, "folder", None)
    assert upstream.prepare(folder) == folder
    names = [definition["metadata"]["name"] for definition in install.definitions(folder)]
    assert names[0] == "gateway.networking.k8s.io_gatewayclasses"
    assert names[-3:] == [
        "gcpgatewaypolicies.networking.gke.io",
        "podmonitorings.monitoring.googleapis.com",
        "computeclasses.cloud.google.com",
    ]


def test_another_version_replaces_the_files(tmp_path: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = upstream.prepare(tmp_path / "crds")
    (folder / "of-an-older-version.yaml").touch()
    newer = {**versions.modules(), upstream.GATEWAY_API: "v1.99.0"}
    monkeypatch.setattr(versions, "modules", lambda: newer)
    upstream.prepare(folder)
    assert asked[2:] == [f"{module}@{newer[module]}" for module in upstream.FILES]
    assert not (folder / "of-an-older-version.yaml").exists()


@pytest.mark.usefixtures("without_go")
def test_a_daemon_that_finds_none_names_the_command_that_fetches_them(tmp_path: Path) -> None:
    with pytest.raises(SetUpFailed, match=r"are not in .*crds\.\nFix: make up CLOUD=laptop"):
        install.definitions(tmp_path / "crds")


def test_a_module_without_such_a_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def empty(_module: str, _version: str) -> Path:
        return tmp_path

    monkeypatch.setattr(modules, "folder", empty)
    with pytest.raises(SetUpFailed, match=r"has no gateway\.networking\.k8s\.io_gatewayclasses\.yaml"):
        upstream.prepare(tmp_path / "crds")
    assert not (tmp_path / "crds").exists()
