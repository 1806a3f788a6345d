"""Finding the supervisor of a laptop cloud, with a process that only bears its name."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from localcloud.common.layout import SUPERVISOR
from localcloud.linux_namespaces import discover


@pytest.fixture
def named(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A shell with the supervisor's name among its words and that folder as its home; it waits for its input."""
    command = ["sh", "-c", "read line", SUPERVISOR]
    process = subprocess.Popen(command, env={**os.environ, discover.HOME: str(tmp_path)}, stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def test_a_supervisor_is_found_by_its_home(named: subprocess.Popen[bytes], tmp_path: Path) -> None:
    assert [one.pid for one in discover.supervisors(tmp_path)] == [named.pid]
    assert discover.supervisors(tmp_path / "another") == []
