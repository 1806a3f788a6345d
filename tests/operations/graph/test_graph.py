"""The picture of a stack: components, what waits for what, the critical chain."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from llmd_gke.graph import mermaid, svg
from llmd_gke.graph.parts import Parts
from tests.operations.conftest import Clone
from tests.operations.graphs import graph, node
from tests.operations.support import run

DIAMOND = graph(
    node("base"),
    node("base-one", inside="base"),
    node("left", ["base-one"]),
    node("left-one", inside="left"),
    node("left-two", ["left-one"], inside="left"),
    node("right", ["base-one"]),
    node("right-one", inside="right"),
    node("top", ["left-two", "right-one", "base-one"]),
    node("top-one", inside="top"),
)


def test_edges_are_those_between_components_that_no_other_edges_imply() -> None:
    parts = Parts(DIAMOND)
    assert list(parts.by_name) == ["base", "left", "right", "top"]
    assert parts.edges == {("base", "left"), ("base", "right"), ("left", "top"), ("right", "top")}


def test_the_critical_chain_is_the_longest_run_of_resources_that_wait_for_one_another() -> None:
    parts = Parts(DIAMOND)
    assert [one.name for one in parts.chain] == ["base-one", "left-one", "left-two", "top-one"]
    assert parts.chain_parts == ("base", "left", "top")
    assert parts.chain_edges == {("base", "left"), ("left", "top")}


def test_a_resource_inside_a_component_waits_for_what_the_component_waits_for() -> None:
    whole = graph(node("a"), node("a-one", inside="a"), node("b", ["a"]), node("b-one", inside="b"))
    assert [one.name for one in Parts(whole).chain] == ["a-one", "b-one"]


def test_names_that_mermaid_or_xml_would_read_as_their_own_are_kept_apart() -> None:
    whole = graph(node("end"), node('a"b-<c>'), node("a_b"), node("a-b"))
    names = ["end", 'a"b-<c>', "a_b", "a-b"]
    assert len({mermaid.ident(name) for name in names}) == 4
    assert all(mermaid.ident(name).replace("_", "a").isalnum() for name in names)
    assert "[\"<b>a'b-'c'</b>" in mermaid.picture(Parts(whole))
    assert ET.fromstring(svg.picture(Parts(whole), "<&>"))[0].text == "<&>"


@pytest.mark.usefixtures("shared_recordings")
@pytest.mark.parametrize("stack", ["eu4a", "prod"])
def test_a_shipped_stack_is_drawn_with_its_models_at_the_end_of_the_chain(stack: str) -> None:
    data = json.loads(run("graph", "--stack", stack, "--output", "json").stdout)
    names = [part["name"] for part in data["components"]]
    assert {"project", "network", "cluster", "platform", "edge", "qwen"} <= set(names)
    assert names[0] == "project"
    assert names[-1] == "qwen"
    # Servers start beside the front door, so that the chain with it ends with the model's route.
    assert data["criticalChain"][-1] == ("qwen-door" if "front-door" in names else "qwen-rollout")
    behind = "front-door" if "front-door" in names else "qwen"
    edges = {("project", "network"), ("platform", behind), ("edge", behind)}
    assert {tuple(edge) for edge in data["edges"]} >= edges
    assert ["network", "platform"] not in data["edges"]  # implied by the cluster


@pytest.mark.usefixtures("shared_recordings")
def test_the_svg_shows_every_component_and_every_edge_once() -> None:
    data = json.loads(run("graph", "--stack", "eu4a", "--output", "json").stdout)
    drawn = ET.fromstring(run("graph", "--stack", "eu4a", "--format", "svg").stdout)
    space = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in drawn.iter(f"{space}text")]
    assert [part["name"] for part in data["components"] if part["name"] not in texts] == []
    arrows = [line for line in run("graph", "--stack", "eu4a").stdout.splitlines() if "-->" in line or "==>" in line]
    assert len(drawn.findall(f"{space}path")) == len(set(arrows)) == len(arrows)
    assert len(arrows) >= len(data["edges"])


@pytest.mark.parametrize("error", ["pulumi.RunError", "KeyError", "SyntaxError"])
def test_a_program_that_fails_is_a_failure_with_its_message(clone: Clone, error: str) -> None:
    (clone.root / "__main__.py").write_text(f"import pulumi\nraise {error}('the reason')\n")
    done = run("graph", "--stack", "one", root=clone.root)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the reason" in done.stderr
    assert "Traceback" not in done.stderr
