"""Which Google a command asks for a cloud of this machine, and what it leaves in that cloud's folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from localcloud.workflow.cloud_files import EMULATOR
from operations.doctor.emulator import emulated, may_ask
from operations.doctor.google import ENDPOINT
from operations.exits import SetUpFailed, Stale
from operations.options import Cloud
from operations.target import Target
from tests.operations.conftest import Clone

OBJECTS = {"objects": {"gcp:compute/network:Network": {"vpc": {"inputs": {"name": "vpc"}}}}}


@pytest.fixture
def laptop(clone: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Target:
    monkeypatch.delenv(ENDPOINT, raising=False)
    monkeypatch.setenv("LLMD_GKE_CLOUD", "laptop")
    monkeypatch.setenv("LLMD_GKE_HOME", str(tmp_path / "home"))
    return Target("one", Cloud.LAPTOP, clone.root)


def write(target: Target, *names: str) -> None:
    target.workdir.cloud.mkdir(parents=True, exist_ok=True)
    for name in names:
        content = OBJECTS if name == "google.json" else {"resources": {"compute/vpc": {}}}
        (target.workdir.cloud / name).write_text(json.dumps(content))


def asked(target: Target) -> bool:
    with emulated(target):
        return may_ask(target)


def test_before_the_first_up_the_emulator_is_asked_and_leaves_nothing(laptop: Target) -> None:
    assert asked(laptop)
    assert not laptop.workdir.cloud.exists()


def test_a_cloud_of_the_emulator_is_asked_in_its_own_folder(laptop: Target) -> None:
    write(laptop, "google.json", EMULATOR)
    assert asked(laptop)
    assert "my-project" in (laptop.workdir.cloud / "google.json").read_text()
    assert not may_ask(laptop), "the emulator has ended"


@pytest.mark.parametrize(("cloud", "may"), [(Cloud.GOOGLE, True), (Cloud.REHEARSAL, False)])
def test_only_google_cloud_itself_is_asked_without_an_emulator(laptop: Target, cloud: Cloud, may: bool) -> None:
    assert asked(Target("one", cloud, laptop.root)) is may


def test_a_folder_that_cannot_be_used_is_named_with_a_fix(laptop: Target) -> None:
    write(laptop, EMULATOR)
    (laptop.workdir.cloud / "google.lock").mkdir()
    with pytest.raises(SetUpFailed, match=r"cannot start on .*google\.lock.*\nFix: make the folder writable"):
        asked(laptop)


@pytest.mark.parametrize("name", ["google.json", EMULATOR])
def test_a_damaged_file_is_named_with_a_fix(laptop: Target, name: str) -> None:
    write(laptop, "google.json", EMULATOR)
    (laptop.workdir.cloud / name).write_text("{half")
    with pytest.raises(Stale, match=rf"{name} is .*\nFix: .*make down"):
        asked(laptop)
