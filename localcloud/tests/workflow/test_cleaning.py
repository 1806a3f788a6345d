"""``make clean``: it removes the folder, and never under somebody's feet."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from llmd_common.problems import Busy
from localcloud.common.lock import exclusive
from localcloud.common.workdir import KINDS, CloudKind, Workdir
from localcloud.workflow.commands import clear_all


@pytest.fixture(params=KINDS)
def workdir(tmp_path: Path, request: pytest.FixtureRequest) -> Workdir:
    kind: CloudKind = request.param
    (tmp_path / "Pulumi.yaml").write_text("name: serving\n")
    made = Workdir(tmp_path, tmp_path / f".{kind}", kind)
    made.home.mkdir()
    (made.home / "env.sh").touch()
    return made


def test_clean_is_refused_while_another_run_works_there_and_names_it(workdir: Workdir) -> None:
    with exclusive(workdir, "up"), pytest.raises(Busy, match=r"process \d+ \(make up\)"):
        clear_all(workdir, Console())
    assert workdir.env_script.exists()


def test_clean_leaves_nothing_and_may_be_repeated(workdir: Workdir) -> None:
    assert clear_all(workdir, Console()) == 0
    assert not workdir.home.exists()
    assert clear_all(workdir, Console()) == 0
    assert not workdir.home.exists()
