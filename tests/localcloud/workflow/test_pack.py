"""The packs that previews and updates run, and their configuration."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from llmd_gke.problems import BadInput
from localcloud.common.workdir import Places
from localcloud.workflow import arguments, pack


@pytest.fixture
def places(tmp_path: Path) -> Places:
    for name in ("policies", "house", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "PulumiPolicy.yaml").touch()
    (tmp_path / "home").mkdir()
    return Places(tmp_path, tmp_path / "home")


@pytest.fixture
def configured(places: Places, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two packs of one's own, and a configuration of the project's."""
    file = places.root / "config.json"
    file.write_text("{}")
    monkeypatch.setenv(pack.PACKS, os.pathsep.join(str(places.root / name) for name in ("house", "other")))
    monkeypatch.setenv(pack.CONFIG, str(file))
    return file


def values(arguments: list[str], flag: str) -> list[str]:
    return [Path(arguments[index + 1]).name for index, word in enumerate(arguments) if word == flag]


def test_without_settings_only_the_project_s_pack_runs(places: Places) -> None:
    assert pack.flags(places) == ["--policy-pack", str(places.root / "policies")]


@pytest.mark.usefixtures("configured")
def test_each_pack_has_a_configuration_once_one_has(places: Places) -> None:
    flags = pack.flags(places)
    assert values(flags, "--policy-pack") == ["policies", "house", "other"]
    none = "no-policy-config.json"
    assert values(flags, "--policy-pack-config") == ["config.json", none, none]


@pytest.mark.usefixtures("configured")
def test_a_pack_on_the_command_line_gets_one_too(places: Places) -> None:
    call = arguments.parse(["up", "--policy-pack", "mine"])
    command = [*call.arguments, *pack.missing_flags(places, call)]
    assert values(command, "--policy-pack") == ["mine", "policies", "house", "other"]
    none = "no-policy-config.json"
    assert values(command, "--policy-pack-config") == [none, "config.json", none, none]


def test_what_is_no_pack_is_named(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(pack.PACKS, str(places.home))
    with pytest.raises(BadInput, match=rf"{places.home} has no PulumiPolicy.yaml"):
        pack.flags(places)


@pytest.mark.parametrize("content", [None, "{", "[]"])
def test_what_is_no_configuration_is_named(
    places: Places, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    file = places.root / "broken.json"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv(pack.CONFIG, str(file))
    with pytest.raises(BadInput, match=r"LLMD_GKE_POLICY_CONFIG=.*broken\.json: (.|\n)*Fix: "):
        pack.flags(places)
