"""The table of panels in the docs."""

from llmd_gke.manifests.dashboard import panels
from operations.dashboard import table
from operations.options import Cloud
from operations.target import Target


def test_every_panel_is_a_row_of_four_cells() -> None:
    settings = Target.choose(table.STACK, Cloud.REHEARSAL).settings
    rows = list(table.lines(settings))
    assert len(rows) == 2 + len(panels(settings))
    assert all(row.count(" | ") == 3 for row in rows if "---" not in row)
