from __future__ import annotations

from typing import Any, cast

from llmd_gke.manifests.dashboard import grafana, panels
from llmd_gke.settings import StackSettings


def made(stack: StackSettings) -> list[dict[str, Any]]:
    return cast("Any", grafana.dashboard(stack))["panels"]


def test_every_panel_is_there_with_its_expressions_legends_and_description(stack: StackSettings) -> None:
    charts = [one for one in made(stack) if one["type"] == "timeseries"]
    assert [one["title"] for one in charts] == [panel.title for panel in panels(stack)]
    for chart, panel in zip(charts, panels(stack), strict=True):
        assert chart["description"] == panel.reading
        assert [(one["expr"], one["legendFormat"]) for one in chart["targets"]] == [
            (query.promql, query.legend) for query in panel.queries
        ]
        assert len({one["refId"] for one in chart["targets"]}) == len(panel.queries)


def test_the_data_source_is_chosen_in_grafana(stack: StackSettings) -> None:
    (choice,) = cast("Any", grafana.dashboard(stack))["templating"]["list"]
    assert (choice["type"], choice["query"]) == ("datasource", "prometheus")
    assert {one["datasource"]["uid"] for one in made(stack) if one["type"] == "timeseries"} == {"${source}"}
