"""The packs that previews and updates run, and their configuration."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from llmd_common.problems import BadInput
from localcloud.common.workdir import Workdir
from localcloud.workflow import arguments, pack


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    for name in ("policies", "house", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "PulumiPolicy.yaml").touch()
    (tmp_path / "home").mkdir()
    return Workdir(tmp_path, tmp_path / "home")


@pytest.fixture
def configured(workdir: Workdir, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two packs of one's own, and a configuration of the project's."""
    file = workdir.root / "config.json"
    file.write_text("{}")
    monkeypatch.setenv(pack.PACKS, os.pathsep.join(str(workdir.root / name) for name in ("house", "other")))
    monkeypatch.setenv(pack.CONFIG, str(file))
    return file


def values(arguments: list[str], flag: str) -> list[str]:
    return [Path(arguments[index + 1]).name for index, word in enumerate(arguments) if word == flag]


@pytest.mark.usefixtures("configured")
def test_each_pack_has_a_configuration_once_one_has_also_one_on_the_command_line(workdir: Workdir) -> None:
    call = arguments.parse(["up", "--policy-pack", "mine"])
    command = [*call.arguments, *pack.missing_flags(workdir, call)]
    assert values(command, "--policy-pack") == ["mine", "policies", "house", "other"]
    none = "no-policy-config.json"
    assert values(command, "--policy-pack-config") == [none, "config.json", none, none]


def test_what_is_no_pack_is_named(workdir: Workdir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(pack.PACKS, str(workdir.home))
    with pytest.raises(BadInput, match=rf"{workdir.home} has no PulumiPolicy.yaml"):
        pack.flags(workdir)


@pytest.mark.parametrize("content", [None, "{", "[]"])
def test_what_is_no_configuration_is_named(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    file = workdir.root / "broken.json"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv(pack.CONFIG, str(file))
    with pytest.raises(BadInput, match=r"LLMD_GKE_POLICY_CONFIG=.*broken\.json: (.|\n)*Fix: "):
        pack.flags(workdir)
