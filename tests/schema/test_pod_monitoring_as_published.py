"""Our definition of PodMonitoring against the published one, collected only where that is at hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from llmd_gke.catalog import monitoring
from localcloud.gke_gateway.crds import pod_monitoring
from tests.schema import rules, sources, structural
from tests.schema.structural import Table, table

FILE = "monitoring.googleapis.com_podmonitorings.yaml"
ENDPOINT = {"port": 8000, "interval": "30s"}
NO_KEY = {"credentials": {"secret": {"name": "a"}}}
SELECTOR = {"matchLabels": {"app": "one"}}


def published() -> Table:
    return sources.read(sources.GMP_FOLDER / FILE)


def schemas() -> tuple[Table, Table]:
    ours = cast("Table", pod_monitoring.definition())
    return structural.version_schema(ours, monitoring.API_VERSION), structural.version_schema(
        published(), monitoring.API_VERSION
    )


def fields(schema: Table, path: str = "") -> Iterator[str]:
    for name, inner in table(schema.get("properties")).items():
        yield f"{path}.{name}"
        yield from fields(table(inner), f"{path}.{name}")
        yield from fields(table(table(inner).get("items")), f"{path}.{name}[]")


def test_no_field_is_ours_alone() -> None:
    ours, theirs = schemas()
    our_fields, published_ones = (set(fields(table(table(one["properties"])["spec"]))) for one in (ours, theirs))
    assert our_fields
    assert our_fields <= published_ones


@pytest.mark.parametrize(
    "spec",
    [
        {"endpoints": [ENDPOINT], "selector": SELECTOR},
        {"endpoints": [ENDPOINT]},
        {"endpoints": [], "selector": SELECTOR},
        {"endpoints": [{"port": 8000}], "selector": SELECTOR},
        {"endpoints": [{**ENDPOINT, "scheme": "ftp"}], "selector": SELECTOR},
        {"endpoints": [{**ENDPOINT, "authorization": {"type": "Basic"}}], "selector": SELECTOR},
        {
            "endpoints": [{**ENDPOINT, "authorization": {"credentials": {"secret": {"name": "a"}}}}],
            "selector": SELECTOR,
        },
        {"endpoints": [ENDPOINT], "selector": SELECTOR, "targetLabels": {"metadata": ["zone"]}},
        {"endpoints": [ENDPOINT], "selector": SELECTOR, "targetLabels": {"metadata": ["pod", "pod"]}},
        {"endpoints": [ENDPOINT], "selector": SELECTOR, "targetLabels": {"fromPod": [{"from": "a", "to": "job"}]}},
        {"endpoints": [ENDPOINT], "selector": SELECTOR, "targetLabels": {"fromPod": [{"from": "a", "to": "a-b"}]}},
        {"endpoints": [ENDPOINT], "selector": SELECTOR, "targetLabels": {"fromPod": [{"from": "a", "to": "model"}]}},
    ],
)
def test_both_refuse_the_same(spec: Table) -> None:
    thing: Table = {"apiVersion": monitoring.API_VERSION, "kind": "PodMonitoring", "metadata": {}, "spec": spec}
    ours, theirs = schemas()
    refused = [bool(structural.errors(thing, one) or rules.broken(thing, one)) for one in (ours, theirs)]
    assert refused[0] == refused[1]
