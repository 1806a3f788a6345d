from __future__ import annotations

import json
from typing import Any

from llmd_gke.manifests.dashboard import dashboard_json, google, panels
from llmd_gke.settings import StackSettings


def tiles(stack: StackSettings) -> list[dict[str, Any]]:
    return json.loads(dashboard_json(stack))["mosaicLayout"]["tiles"]


def test_every_panel_is_a_chart_with_its_expressions(stack: StackSettings) -> None:
    charts = {tile["widget"]["id"]: tile["widget"] for tile in tiles(stack) if "xyChart" in tile["widget"]}
    assert list(charts) == [panel.key for panel in panels(stack)]
    for panel in panels(stack):
        asked = [one["timeSeriesQuery"]["prometheusQuery"] for one in charts[panel.key]["xyChart"]["dataSets"]]
        assert asked == [query.promql for query in panel.queries]


def test_tiles_fill_the_grid_without_overlap(stack: StackSettings) -> None:
    blocks = [
        (x, y)
        for tile in tiles(stack)
        for x in range(tile.get("xPos", 0), tile.get("xPos", 0) + tile["width"])
        for y in range(tile.get("yPos", 0), tile.get("yPos", 0) + tile["height"])
    ]
    assert len(blocks) == len(set(blocks))
    assert max(x for x, _ in blocks) == google.COLUMNS - 1


def test_legends_are_in_the_words_of_cloud_monitoring(stack: StackSettings) -> None:
    legends = [
        one["legendTemplate"] for tile in tiles(stack) for one in tile["widget"].get("xyChart", {}).get("dataSets", [])
    ]
    assert "${metric.labels.model} p95" in legends
    assert not any("{{" in legend for legend in legends)
