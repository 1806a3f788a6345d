"""`registry` moves every chart and image to a mirror, and a mirror that lacks a registry is refused. `imageCache` moves
every image."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmd_gke.catalog import registries, versions
from llmd_gke.manifests import charts
from llmd_gke.settings import SettingsError, StackSettings, parse

HOSTS = ("docker.io", "ghcr.io", "quay.io", "registry.k8s.io")
MIRROR = {host: f"europe-west4-docker.pkg.dev/my-project/{host.replace('.', '-')}" for host in HOSTS}
MIRRORS = registries.Mirrors(MIRROR, MIRROR)
CONFIG: dict[str, Any] = {
    "gcp:project": "my-project",
    "llmd-gke:cluster": {"name": "llmd-one", "zone": "us-east5-b"},
    "llmd-gke:pools": [{"name": "pool", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 4}],
    "llmd-gke:models": [{"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "pool"}],
}


def settings(mirror: object = MIRROR, **model: object) -> StackSettings:
    models = [{**CONFIG["llmd-gke:models"][0], **model}]
    return parse({**CONFIG, "llmd-gke:models": models, "llmd-gke:registry": mirror}, "one").settings


@pytest.mark.parametrize(
    ("reference", "there"),
    [
        ("docker.io/vllm/vllm-tpu:v1", "m.example/hub/vllm/vllm-tpu:v1"),
        ("vllm/vllm-tpu:v1", "m.example/hub/vllm/vllm-tpu:v1"),
        ("busybox", "m.example/hub/library/busybox"),
        ("docker.io/a/b:v1@sha256:00", "m.example/hub/a/b:v1@sha256:00"),
        ("localhost:5000/a", "localhost:5000/a"),
        ("docker.io.evil.example/a", "docker.io.evil.example/a"),
        ("europe-docker.pkg.dev/p/r/a:v1", "europe-docker.pkg.dev/p/r/a:v1"),
    ],
)
def test_only_the_registry_is_replaced(reference: str, there: str) -> None:
    assert registries.at(reference, {"docker.io": "m.example/hub"}) == there


@pytest.mark.parametrize("release", charts.PLATFORM)
def test_charts_and_the_images_in_their_values_come_from_the_mirror(release: Any) -> None:
    plain, moved = release(), release(None, MIRRORS)
    assert moved.chart.startswith("oci://europe-west4-docker.pkg.dev/my-project/")
    assert moved.chart.rpartition("/")[2] == plain.chart.rpartition("/")[2]
    assert (moved.version, moved.namespace) == (plain.version, plain.namespace)
    assert release("/charts", MIRRORS).chart == f"/charts/{plain.name}"
    text = json.dumps(moved.values)
    assert not any(f'"{host}/' in text or f'"{host}"' in text for host in HOSTS)


@pytest.mark.parametrize(
    ("mirror", "message"),
    [
        ({"docker.io": "m.example/hub"}, "ghcr.io, quay.io, registry.k8s.io"),
        ({**MIRROR, "ghcr.io": "https://m.example/x"}, "not a path in a registry"),
        ({**MIRROR, "ghcr.io": "m.example/x/"}, "not a path in a registry"),
        ({**MIRROR, "ghcr.io": "m.example/x:v1"}, "not a path in a registry"),
        ({**MIRROR, "ghcr.io": "m.example/X"}, "not a path in a registry"),
        ({**MIRROR, "ghcr.io": "m.example/../x"}, "not a path in a registry"),
        ({**MIRROR, "ghcr.io": "mirror"}, "not a path in a registry"),
        ({**MIRROR, "docker": "m.example/x"}, "not the host name of a registry"),
        ({**MIRROR, "ghcr.io/llm-d": "m.example/x"}, "not the host name of a registry"),
    ],
)
def test_a_mirror_that_cannot_be_used_is_refused_with_the_key(mirror: object, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings(mirror)
    assert "llmd-gke:registry" in str(caught.value)
    assert message in str(caught.value)


def cached(cache: object, **more: object) -> StackSettings:
    return parse({**CONFIG, "llmd-gke:imageCache": cache, **more}, "one").settings


def test_an_image_cache_moves_images_and_leaves_charts() -> None:
    result = cached({})
    (model,) = result.models
    there = "us-east5-docker.pkg.dev/my-project/llmd-one"
    assert model.image == versions.image("vllm-tpu").replace("docker.io", f"{there}-docker-hub")
    assert model.scheduler.image == versions.image("endpoint-picker").replace("ghcr.io", f"{there}-ghcr")
    assert model.scheduler.tokenizer_image == versions.image("tokenizer").replace("ghcr.io", f"{there}-ghcr")
    assert result.mirrors.images.keys() == set(HOSTS)
    assert result.mirrors.charts == {}
    lws: Any = charts.lws(None, result.mirrors)
    assert lws.chart == charts.lws().chart
    assert lws.values["image"]["manager"]["repository"] == f"{there}-k8s/lws/lws"


def test_what_a_cache_fetches_has_its_own_registrys_address_again() -> None:
    table = cached({}).cached_registries
    for image in ("docker.io/vllm/vllm-tpu:v1", "docker.io/library/redis:7@sha256:00", "quay.io/a/b/c:v1"):
        assert registries.original(registries.at(image, table), table) == image
    assert registries.original("us-east5-docker.pkg.dev/my-project/llmd-one-own/a:v1", table) == (
        "us-east5-docker.pkg.dev/my-project/llmd-one-own/a:v1"
    )


def test_a_mirror_and_a_cache_of_the_same_registries_are_refused_with_both_ways_out() -> None:
    with pytest.raises(SettingsError) as caught:
        cached({"keepDays": 90}, **{"llmd-gke:registry": MIRROR})
    text = str(caught.value)
    assert "llmd-gke:imageCache" in text
    assert "keepDays" in text
    assert "llmd-gke:registry already replaces docker.io, ghcr.io, quay.io, registry.k8s.io" in text
    assert "pulumi config rm llmd-gke:registry" in text


@pytest.mark.parametrize("days", [0, 3651, "soon"])
def test_days_that_cannot_be_are_refused(days: object) -> None:
    with pytest.raises(SettingsError, match=r"llmd-gke:imageCache\.keepDays"):
        cached({"keepDays": days})
