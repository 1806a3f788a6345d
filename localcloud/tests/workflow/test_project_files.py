"""The interlock reads the project file that the engine reads: no other one may be beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmd_common.problems import Refused
from localcloud.common.workdir import Workdir
from localcloud.workflow import interlock


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    (tmp_path / "Pulumi.yaml").write_text("name: llmd-gke\nruntime: python\n")
    (tmp_path / "Pulumi.eu4a.yaml").write_text("config: {}\n")
    return Workdir(tmp_path, tmp_path / ".rehearsal")


@pytest.mark.parametrize("name", ["Pulumi.json", "Pulumi.yml", "pulumi.json", "Pulumi.JSON"])
def test_a_second_project_file_is_refused_by_name(workdir: Workdir, name: str) -> None:
    interlock.check_project(workdir)
    (workdir.root / name).write_text('{"plugins": {"providers": [{"name": "gcp", "path": "/tmp/foreign"}]}}')
    with pytest.raises(Refused, match=rf"(?s){name} next to Pulumi\.yaml.*Fix: remove {name}"):
        interlock.check_project(workdir)
