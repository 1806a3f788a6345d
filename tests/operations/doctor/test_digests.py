"""Digests are recorded from what registries say, and a tag that moved away from its digest is noticed."""

from __future__ import annotations

import tomllib
from contextlib import AbstractContextManager
from pathlib import Path
from unittest.mock import patch

import pytest

from llmd_gke.catalog import versions
from llmd_gke.settings import StackSettings
from operations.doctor import digests
from operations.doctor.context import Context
from operations.doctor.downloads import Manifest
from operations.doctor.result import CheckStatus
from tests.operations.doctor.asking import ask
from tests.operations.doctor.elsewhere import Elsewhere

ONE, OTHER = f"sha256:{'1' * 64}", f"sha256:{'2' * 64}"
PINS = len(versions.charts()) + len(versions.images())


def says(digest: str | None, problem: str = "") -> digests.Ask:
    return lambda base, path, reference: Manifest(problem, digest)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    copy = tmp_path / "versions.toml"
    copy.write_text(versions.FILE.read_text())
    return copy


def test_every_chart_and_image_gets_its_digest_and_nothing_else_changes(file: Path) -> None:
    before = tomllib.loads(file.read_text())
    assert digests.main(file, says(ONE)) == 0
    after = tomllib.loads(file.read_text())
    result = [entry.pop("digest") for part in ("charts", "images") for entry in after[part].values()]
    assert result == [ONE] * PINS
    for part in ("charts", "images"):
        for entry in before[part].values():
            entry.pop("digest", None)
    assert after == before
    comments = [line for line in versions.FILE.read_text().splitlines() if line.startswith("#")]
    assert [line for line in file.read_text().splitlines() if line.startswith("#")] == comments


def test_a_registry_that_does_not_answer_leaves_the_file_alone(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = file.read_text()
    assert digests.main(file, says(None, "ConnectError")) == 1
    assert file.read_text() == before
    assert "docker.io/vllm/vllm-tpu:v" in capsys.readouterr().err


def recorded(digest: str | None) -> AbstractContextManager[object]:
    """``versions.toml`` with that digest for every image and chart."""
    table = tomllib.loads(versions.FILE.read_text())
    for part in ("charts", "images"):
        for entry in table[part].values():
            entry.update({"digest": digest} if digest else {})
    return patch.object(versions, "_table", lambda: table)


def test_an_image_with_a_digest_is_pulled_by_it_and_keeps_its_tag() -> None:
    assert "@" not in versions.Image("a", "ghcr.io/a/b", "v1").reference
    assert versions.Image("a", "ghcr.io/a/b", "v1", ONE).reference == f"ghcr.io/a/b:v1@{ONE}"
    with recorded(ONE):
        assert versions.image("vllm-tpu") == f"docker.io/vllm/vllm-tpu:{versions.pinned_image('vllm-tpu').tag}@{ONE}"


def test_a_chart_whose_version_was_replaced_is_refused(elsewhere: Elsewhere, context: Context) -> None:
    elsewhere.digest = OTHER
    with recorded(ONE):
        result = ask(context, "charts")
    assert {one.status for one in result[:-1]} == {CheckStatus.FAILED}
    assert len(result) == len(versions.charts()) + 1
    assert OTHER in result[0].message
    with recorded(OTHER):
        assert [one.status for one in ask(context, "charts")] == [CheckStatus.OK]


def test_a_tag_that_moved_is_refused_although_its_digest_is_there(elsewhere: Elsewhere, eu4a: StackSettings) -> None:
    (model,) = eu4a.models
    pinned = model.model_copy(update={"image": f"docker.io/vllm/vllm-tpu:v1@{ONE}"})
    context = Context("eu4a", eu4a.model_copy(update={"models": (pinned,)}))
    elsewhere.digest = OTHER
    assert CheckStatus.FAILED in {one.status for one in ask(context, "images")}
    elsewhere.digest = ONE
    assert {one.status for one in ask(context, "images")} == {CheckStatus.OK}


def test_with_a_mirror_everything_is_looked_for_there(elsewhere: Elsewhere, eu4a: StackSettings) -> None:
    hosts = ("docker.io", "ghcr.io", "quay.io", "registry.k8s.io")
    mirrored = eu4a.model_copy(update={"registry": {host: f"mirror.example/{host}" for host in hosts}})
    assert [one.status for one in ask(Context("eu4a", mirrored), "charts")] == [CheckStatus.OK]
    paths = [path for path, _ in elsewhere.heard if path.startswith("/registry/")]
    assert len(paths) == len(versions.charts())
    assert all(path.startswith("/registry/mirror.example/v2/") for path in paths)
