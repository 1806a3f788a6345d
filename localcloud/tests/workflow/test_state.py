"""A state whose engine was killed while it wrote it."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.common.workdir import Workdir
from localcloud.workflow import state

STATE = '{"checkpoint": {"latest": {}}}'


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    (tmp_path / "Pulumi.yaml").write_text("name: p\n")
    made = Workdir(tmp_path, tmp_path / "home")
    folder = state.folder(made)
    folder.mkdir(parents=True)
    for name in ("dev.json", "dev.json.bak"):
        (folder / name).write_text(STATE)
        (folder / f"{name}.attrs").write_text("{}")
    (folder / "other.json").write_text("")
    return made


def contents(workdir: Workdir) -> dict[str, str]:
    return {file.name: file.read_text() for file in state.folder(workdir).iterdir()}


def test_a_whole_state_stays_as_it_is(workdir: Workdir) -> None:
    before = contents(workdir)
    assert state.mend(workdir, "dev") == []
    assert contents(workdir) == before


def test_attributes_that_were_not_written_are_removed_and_so_is_what_was_begun(workdir: Workdir) -> None:
    """The engine says "failed to load checkpoint: EOF" of them, and of nothing else."""
    before = contents(workdir)
    folder = state.folder(workdir)
    (folder / "dev.json.attrs").write_text("")
    (folder / "dev.json.18ea777e17a0ff90.tmp").write_text(STATE[:10])
    assert state.mend(workdir, "dev") == []
    assert contents(workdir) == {name: text for name, text in before.items() if name != "dev.json.attrs"}


@pytest.mark.parametrize("text", ["", STATE[:10]])
def test_a_state_that_is_cut_off_is_replaced_by_the_one_before(workdir: Workdir, text: str) -> None:
    before = contents(workdir)
    (state.folder(workdir) / "dev.json").write_text(text)
    (message,) = state.mend(workdir, "dev")
    assert "restored the previous state from its backup" in message
    assert contents(workdir) == before


def test_without_a_good_one_before_nothing_is_replaced(workdir: Workdir) -> None:
    for name in ("dev.json", "dev.json.bak"):
        (state.folder(workdir) / name).write_text("")
    assert state.mend(workdir, "dev") == []
    assert contents(workdir)["dev.json"] == ""
