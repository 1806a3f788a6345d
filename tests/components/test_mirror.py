"""With a mirror the whole graph names no other registry, and the policies agree."""

from __future__ import annotations

import json
import re
from pathlib import Path

from llmd_gke.catalog import registries
from llmd_gke.graph.recording import load
from llmd_gke.settings.load import read_config
from operations.comment.policy_messages import run_policies
from tests.components.conftest import WITHOUT_DOOR
from tests.components.kinds import RELEASE, of

MIRROR = "europe-west4-docker.pkg.dev/my-project"


def test_no_chart_and_no_image_of_the_graph_comes_from_elsewhere(root: Path) -> None:
    mirrors = {host: f"{MIRROR}/{host.replace('.', '-')}" for host in registries.hosts()}
    changes = {**read_config(root, "eu4a"), **WITHOUT_DOOR["eu4a"], "llmd-gke:registry": mirrors}
    graph = load(root, "eu4a", preview=True, changes=changes)
    text = json.dumps([node.inputs for node in graph.nodes.values()], default=str)
    images = set(re.findall(r'"image": "([^"]*)"', text))
    assert {image.rpartition("/")[2].partition(":")[0] for image in images} == {
        "llmisvc-controller",
        "storage-initializer",
        "vllm-tpu",
        "llm-d-router-endpoint-picker",
        "llm-d-uds-tokenizer",
    }
    assert all(image.startswith(f"{MIRROR}/") for image in images)
    charts = [str(node.inputs["chart"]) for node in of(RELEASE)(graph)]
    assert len(charts) == 5
    assert all(chart.startswith(f"oci://{MIRROR}/") for chart in charts)
    assert not any(f'"{host}/' in text for host in registries.hosts())
    assert [one for one in run_policies("eu4a", graph) if one.mandatory] == []
    again = load(root, "eu4a", preview=True, changes=changes)
    assert again.nodes.keys() == graph.nodes.keys(), "policies that ran in this process leave nothing behind"
