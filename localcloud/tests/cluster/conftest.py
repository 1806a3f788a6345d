"""What tests of the cluster share."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.common.layout import Layout


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """The folders of a cluster that has not started yet."""
    made = Layout(tmp_path)
    made.logs.mkdir(parents=True)
    made.run.mkdir()
    return made
