from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from llmd_gke.manifests.dashboard import DashboardSection, Panel, Query, panels, sections
from llmd_gke.settings import StackSettings, load_stack
from operations.dashboard import example, picture, queries
from operations.dashboard.picture import Span
from operations.prometheus.client import Series

ROOT = Path(__file__).parents[3]
SPAN = Span(0, 100)
PANEL = Panel(
    key="k",
    title="A title & more",
    unit="ratio",
    queries=(Query("up", "{{pod}} up"),),
    reading="Reading.",
    source="https://example.com",
)


@pytest.fixture
def settings() -> StackSettings:
    return load_stack(ROOT, "prod").settings


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def paths(svg: str) -> list[str]:
    return [element.attrib["d"] for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}path")]


def draw(series: list[Series], panel: Panel = PANEL) -> str:
    return picture.picture([DashboardSection("S", "Why?", [panel])], {"up": series}, SPAN, "T")


def test_a_chart_has_title_units_legend_and_a_line_within_its_axes() -> None:
    svg = draw([Series({"pod": "a"}, [(0, 0.0), (50, 0.2), (100, 0.4)])])
    assert {"A title & more", "50 %", "25 %", "0 %", "a up", "S: Why?"} <= set(texts(svg))
    assert paths(svg)[-1].count("L") == 2


def test_a_panel_without_series_says_so_and_one_of_google_says_where_it_has_some(settings: StackSettings) -> None:
    assert "no series" in texts(draw([]))
    empty = picture.picture(sections(settings), {}, SPAN, "T")
    google = sum(panel.google_only for panel in panels(settings))
    assert texts(empty).count("only on Google Cloud") == google
    assert texts(empty).count("no series") == len(panels(settings)) - google


def test_answers_are_read_as_they_were_recorded(settings: StackSettings, tmp_path: Path) -> None:
    expression = panels(settings)[0].queries[0].promql
    every = {query.promql: [] for panel in panels(settings) for query in panel.queries}
    series = Series({"model": "qwen", "__name__": "x"}, [(1000.0, 0.123456), (1060.0, float("nan")), (1120.0, 2.0)])
    file = tmp_path / "answers.json"
    file.write_text(queries.record({**every, expression: [series]}, Span(1000, 1120), settings))
    read_answers, span = queries.read(file, settings)
    assert span == Span(0, 120)
    assert read_answers[expression] == [Series({"model": "qwen"}, [(0, 0.1235), (120, 2.0)])]


def test_the_picture_of_the_docs_has_every_panel_and_real_numbers() -> None:
    svg = example.drawn()
    settings = load_stack(ROOT, example.STACK).settings
    assert {panel.title for panel in panels(settings)} <= set(texts(svg))
    assert texts(svg).count("no series") <= 3
