"""The dashboard for Cloud Monitoring: ``Dashboard`` of its API v1, with panels in PromQL.

Source of the fields: https://monitoring.googleapis.com/$discovery/rest?version=v1, revision 20260903, against which the
tests check every field.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from llmd_gke.json_types import Json, JsonObject
from llmd_gke.manifests.dashboard.panel import LABEL, Panel, Unit
from llmd_gke.manifests.dashboard.panels import sections
from llmd_gke.settings import StackSettings

COLUMNS = 48
"""Columns of a mosaic layout; the API allows no more."""
IN_ROW = 3
HEIGHT, HEADER_HEIGHT = 16, 4

UNITS: dict[Unit, str] = {
    "count": "1",
    "ratio": "10^2.%",
    "percent": "%",
    "seconds": "s",
    "milliseconds": "ms",
    "per second": "1/s",
    "USD": "{USD}",
}
"""Units in UCUM, as in metric descriptors (https://cloud.google.com/monitoring/api/ref_v3/rest/v3/projects.metricDescriptors)."""


def name(settings: StackSettings) -> str:
    """The dashboard's display name: unique in the project, as the cluster's name is."""
    return f"{settings.cluster.name}: model serving"


def dashboard_json(settings: StackSettings) -> str:
    """The dashboard as JSON text for the provider; the same text for the same settings."""
    return json.dumps(dashboard(settings))


def console_link(ident: str, project: str) -> str:
    """The console's address of a dashboard. ``ident``: its full name, ``projects/NUMBER/dashboards/ID``."""
    return (
        f"https://console.cloud.google.com/monitoring/dashboards/builder/{ident.rsplit('/', 1)[-1]}?project={project}"
    )


def dashboard(settings: StackSettings) -> JsonObject:
    """The dashboard of a stack."""
    tiles: list[Json] = []
    top = 0
    for section in sections(settings):
        header: JsonObject = {"title": section.title, "sectionHeader": {"subtitle": section.question}}
        tiles.append(_tile(0, top, COLUMNS, HEADER_HEIGHT, header))
        top += HEADER_HEIGHT
        tiles += _rows(section.panels, top)
        top += HEIGHT * -(-len(section.panels) // IN_ROW)
    return {"displayName": name(settings), "mosaicLayout": {"columns": COLUMNS, "tiles": tiles}}


def _rows(panels: Sequence[Panel], top: int) -> list[Json]:
    width = COLUMNS // IN_ROW
    return [
        _tile(index % IN_ROW * width, top + index // IN_ROW * HEIGHT, width, HEIGHT, _chart(panel))
        for index, panel in enumerate(panels)
    ]


def _tile(left: int, top: int, width: int, height: int, widget: JsonObject) -> JsonObject:
    """A tile of the mosaic. Position 0 is omitted, as the API does: else every preview would show a difference."""
    position = {key: value for key, value in (("xPos", left), ("yPos", top)) if value}
    return {**position, "width": width, "height": height, "widget": widget}


def _chart(panel: Panel) -> JsonObject:
    plot = "LINE" if panel.kind == "line" else "STACKED_AREA"
    sets: list[Json] = [
        {
            "timeSeriesQuery": {"prometheusQuery": query.promql, "unitOverride": UNITS[panel.unit]},
            "plotType": plot,
            "legendTemplate": LABEL.sub(r"${metric.labels.\1}", query.legend),
            "targetAxis": "Y1",
        }
        for query in panel.queries
    ]
    return {
        "title": panel.title,
        "id": panel.key,
        "xyChart": {"dataSets": sets, "yAxis": {"scale": "LINEAR"}, "chartOptions": {"mode": "COLOR"}},
    }
