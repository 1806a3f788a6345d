"""What decides whether an update may be left out; whether it is: tests/real_engine/test_life_cycle.py."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from localcloud.common.workdir import Workdir
from localcloud.workflow import state, unchanged

ENGINE = Path("/engine-1/pulumi")


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    root = tmp_path / "project"
    (root / "components").mkdir(parents=True)
    (root / "Pulumi.yaml").write_text("name: p\n")
    (root / "components" / "cluster.py").write_text("")
    made = Workdir(root, tmp_path / "home")
    for folder in (state.folder(made), made.stack_copy("dev").parent):
        folder.mkdir(parents=True)
    (state.folder(made) / "dev.json").write_text("{}")
    made.stack_copy("dev").write_text("config: {}\n")
    return made


def is_complete(workdir: Workdir, engine: Path = ENGINE) -> bool:
    return unchanged.is_complete(workdir, "dev", unchanged.inputs(workdir, "dev", engine))


def test_only_a_complete_update_counts(workdir: Workdir) -> None:
    assert not is_complete(workdir)
    unchanged.record(workdir, "dev", unchanged.inputs(workdir, "dev", ENGINE))
    assert is_complete(workdir)
    assert not is_complete(workdir, Path("/engine-2/pulumi"))


CHANGES: dict[str, Callable[[Workdir], object]] = {
    "a setting of the environment": lambda _: os.environ.update(LLMD_GKE_FAULTS="1"),
    "a file of the program": lambda at: (at.root / "components" / "cluster.py").write_text("x = 1\n"),
    "a new file": lambda at: (at.root / "mine.py").write_text(""),
    "the stack file": lambda at: at.stack_copy("dev").write_text("config: {a: b}\n"),
    "the state": lambda at: (state.folder(at) / "dev.json").write_text('{"a": 1}'),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_asks_for_an_update(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch, change: Callable[[Workdir], object]
) -> None:
    monkeypatch.setenv("LLMD_GKE_FAULTS", "0")
    unchanged.record(workdir, "dev", unchanged.inputs(workdir, "dev", ENGINE))
    change(workdir)
    assert not is_complete(workdir)


def test_other_stacks_and_compiled_files_are_not_read(workdir: Workdir) -> None:
    unchanged.record(workdir, "dev", unchanged.inputs(workdir, "dev", ENGINE))
    (workdir.root / "Pulumi.other.yaml").write_text("config: {}\n")
    (workdir.root / "__pycache__").mkdir()
    (workdir.root / "__pycache__" / "__main__.cpython-311.pyc").write_bytes(b"1")  # by the first update
    (workdir.root / "components" / "__pycache__").mkdir()
    (workdir.root / "components" / "__pycache__" / "cluster.pyc").write_bytes(b"1")
    assert is_complete(workdir)
