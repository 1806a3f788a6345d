"""The image table: every entry leads to a program or script that exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud import binaries
from localcloud.google_api.rules.artifactregistry import REPOSITORY
from localcloud.nodes import images
from localcloud.nodes.images import ImageTable, NoImage
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.values import JsonObject

EVERY = list(images._read(images.TABLE))  # pyright: ignore[reportPrivateUsage]


def table(home: Path) -> ImageTable:
    def program(name: str) -> Path:
        assert binaries.chosen([name]) == (name,)  # raises for what is no program of the laptop cloud
        return home / name

    return ImageTable(home, program)


@pytest.mark.parametrize("image", EVERY, ids=lambda image: image.repository)
def test_every_program_of_an_image_exists(tmp_path: Path, image: images.ImageEntry) -> None:
    for name in image.programs.values():
        _, of_home, rest = name.partition("home:")
        if of_home:
            file = tmp_path / rest
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
    mounts, _ = table(tmp_path).sees(image)
    mounted = {mount.target: Path(mount.source) for mount in mounts}
    # A file of this machine may be missing.
    assert {target for target, name in image.programs.items() if "file:" not in name} <= set(mounted)
    for target, name in image.programs.items():
        assert mounted[target].exists() or not name.startswith("stand-in:")


def test_a_program_that_only_some_stacks_need_may_be_missing(tmp_path: Path) -> None:
    def program(name: str) -> Path:
        if name == "counting-picker":
            raise FileNotFoundError(name)
        return tmp_path / name

    entries = ImageTable(tmp_path, program)
    mounts, _ = entries.sees(entries.find("ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.9.0"))
    targets = {mount.target for mount in mounts}
    assert "/opt/bin/endpoint-picker" in targets
    assert "/opt/bin/counting-picker" not in targets


def test_an_entry_with_a_tag_is_for_that_tag_only(tmp_path: Path) -> None:
    (tmp_path / "images.toml").write_text('[[image]]\nrepository = "*/lws/lws:v0.8.0"\nentrypoint = ["/older"]\n')
    found = [table(tmp_path).find(f"registry.k8s.io/lws/lws:{tag}").entrypoint for tag in ("v0.8.0", "v0.9.0")]
    assert list(found[0]) == ["/older"] != list(found[1])


def test_an_image_of_a_remote_repository_is_that_of_its_upstream_once_the_repository_exists(tmp_path: Path) -> None:
    image = "us-east5-docker.pkg.dev/p/llmd-quay/jetstack/cert-manager-webhook:v1.21.2"
    entries = table(tmp_path)
    with pytest.raises(NoImage, match="llmd-quay/jetstack"):
        entries.find(image)
    made: JsonObject = {"remoteRepositoryConfig": {"commonRepository": {"uri": "https://quay.io"}}}
    with CloudFile(tmp_path / "cloud" / "google.json").edit() as content:
        content["objects"] = {REPOSITORY: {"projects/p/locations/us-east5/repositories/llmd-quay": {"inputs": made}}}
    assert entries.find(image).repository == "quay.io/jetstack/cert-manager-webhook"


@pytest.mark.parametrize(
    ("image", "repository"),
    [
        ("busybox", "busybox"),
        ("quay.io/a/b:v1", "quay.io/a/b"),
        ("localhost:5000/a/b", "localhost:5000/a/b"),
        ("localhost:5000/a/b:v1@sha256:00", "localhost:5000/a/b"),
    ],
)
def test_tag_and_digest_are_left_out(image: str, repository: str) -> None:
    assert images.repository_of(image) == repository


def test_a_program_that_is_not_built_says_how_to(tmp_path: Path) -> None:
    def absent(name: str) -> Path:
        raise RuntimeError(f"build {name} so")

    entries = ImageTable(tmp_path, absent)
    entry = entries.find("registry.k8s.io/lws/lws:v0.9.0")
    with pytest.raises(NoImage, match="Program lws-manager is missing: build lws-manager so"):
        entries.sees(entry)
