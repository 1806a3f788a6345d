"""With a mirror the whole graph names no other registry."""

from __future__ import annotations

import json
import re

from llmd_gke.catalog import registries
from tests.components.kinds import RELEASE, of
from tests.components.variants import variant

MIRROR = "example.dev/m"


def test_no_chart_and_no_image_of_the_graph_comes_from_elsewhere() -> None:
    graph = variant("edge")
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
