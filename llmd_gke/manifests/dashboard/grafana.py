"""The same panels as a Grafana file, for a Grafana whose data source is managed Prometheus or any other Prometheus.

Fields: https://grafana.com/docs/grafana/latest/visualizations/dashboards/build-dashboards/view-dashboard-json-model/
"""

from __future__ import annotations

from llmd_gke.json_types import Json, JsonObject
from llmd_gke.manifests.dashboard import google
from llmd_gke.manifests.dashboard.panel import DashboardSection, Panel, Unit
from llmd_gke.manifests.dashboard.panels import sections
from llmd_gke.settings import StackSettings

SCHEMA_VERSION = 39
"""Schema version of Grafana 11; newer versions of Grafana convert it."""
COLUMNS = 24
IN_ROW = 3
HEIGHT = 8

SOURCE: JsonObject = {"type": "prometheus", "uid": "${source}"}
"""Reference to the variable by which users choose the data source, at the top of the dashboard."""

UNITS: dict[Unit, str] = {
    "count": "none",
    "ratio": "percentunit",
    "percent": "percent",
    "seconds": "s",
    "milliseconds": "ms",
    "per second": "ops",
    "USD": "currencyUSD",
}
"""Grafana's names of units (``packages/grafana-data/src/valueFormats/categories.ts``)."""


def dashboard(settings: StackSettings) -> JsonObject:
    """The dashboard of a stack, to be imported."""
    panels: list[Json] = []
    top = 0
    for section in sections(settings):
        panels.append(_row(section, len(panels) + 1, top))
        top += 1
        for index, panel in enumerate(section.panels):
            panels.append(_panel(panel, len(panels) + 1, index % IN_ROW, top + index // IN_ROW * HEIGHT))
        top += HEIGHT * -(-len(section.panels) // IN_ROW)
    choice: JsonObject = {"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus"}
    return {
        "uid": f"llmd-gke-{settings.cluster.name}"[:40],
        "title": google.name(settings),
        "tags": ["llmd-gke"],
        "schemaVersion": SCHEMA_VERSION,
        "timezone": "browser",
        "refresh": "1m",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": [choice]},
        "panels": panels,
    }


def _row(section: DashboardSection, number: int, top: int) -> JsonObject:
    return {
        "id": number,
        "type": "row",
        "title": f"{section.title}: {section.question}",
        "collapsed": False,
        "gridPos": {"x": 0, "y": top, "w": COLUMNS, "h": 1},
        "panels": [],
    }


def _panel(panel: Panel, number: int, column: int, top: int) -> JsonObject:
    width = COLUMNS // IN_ROW
    stacked = panel.kind == "stacked"
    targets: list[Json] = [
        {"refId": f"q{index}", "datasource": SOURCE, "expr": query.promql, "legendFormat": query.legend}
        for index, query in enumerate(panel.queries, 1)
    ]
    custom: JsonObject = {
        "drawStyle": "line",
        "fillOpacity": 30 if stacked else 0,
        "stacking": {"mode": "normal" if stacked else "none"},
    }
    return {
        "id": number,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.reading,
        "datasource": SOURCE,
        "gridPos": {"x": column * width, "y": top, "w": width, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": UNITS[panel.unit], "min": 0, "custom": custom}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": targets,
    }
