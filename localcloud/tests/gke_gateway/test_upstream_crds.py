"""Upstream's CRDs are there before the cluster starts, since nothing inside can fetch them."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmd_common.problems import SetUpFailed
from localcloud.gke_gateway.crds import install
from localcloud.go_builds import modules


@pytest.fixture
def without_go(monkeypatch: pytest.MonkeyPatch) -> None:
    def folder(module: str, version: str) -> Path:
        raise AssertionError(f"{module}@{version} was asked for")

    monkeypatch.setattr(modules, "folder", folder)


@pytest.mark.usefixtures("without_go")
def test_a_daemon_that_finds_none_names_the_command_that_fetches_them(tmp_path: Path) -> None:
    with pytest.raises(SetUpFailed, match=r"are not in .*crds\.\nFix: make up CLOUD=laptop"):
        install.definitions(tmp_path / "crds")
