"""Every custom resource that the program emits: the shipped stacks, and settings that change what is emitted."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import cast

import pytest

from llmd_gke.settings.validation import CLOUD_VARIABLE
from tests.components.variants import VARIANTS, variant
from tests.graphs import load
from tests.schema.structural import Table, table

ROOT = Path(__file__).parents[2]

EMITTERS = [*sorted(file.name.split(".")[1] for file in ROOT.glob("Pulumi.*.yaml")), *VARIANTS]


@pytest.fixture(scope="session", autouse=True)
def rehearsal() -> Iterator[None]:
    """Stacks of the project `rehearsal` are refused outside of the stand-ins."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CLOUD_VARIABLE, "rehearsal")
        yield


@cache
def emitted_by(name: str) -> list[Table]:
    """Every Kubernetes object of a stack or variant, as it goes over the wire; shared, so not to be changed."""
    graph = variant(name) if name in VARIANTS else load(ROOT, name, preview=False)
    nodes = [node for node in graph.nodes.values() if node.custom and node.type.startswith("kubernetes:")]
    return [table(whole(node.inputs)) for node in nodes if "apiVersion" in node.inputs and "chart" not in node.inputs]


def whole(value: object) -> object:
    """The value with whole numbers as such: JSON on the wire has one kind of number."""
    if isinstance(value, dict):
        return {key: whole(entry) for key, entry in cast("Table", value).items()}
    if isinstance(value, list):
        return [whole(entry) for entry in cast("list[object]", value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@pytest.fixture
def one() -> dict[str, Table]:
    """One object of each kind, of stack `local`, to break."""
    return {str(thing["kind"]): copy.deepcopy(thing) for thing in emitted_by("local")}
