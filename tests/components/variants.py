"""Stack eu4a with changes that together use nearly every setting. Each graph is recorded once for all tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from llmd_gke.catalog import versions
from llmd_gke.graph.resources import Graph
from tests.components.conftest import ROOT, WITHOUT_DOOR
from tests.graphs import load

VARIANTS: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))["variants"]
VARIANTS["gke"]["cluster"]["minVersion"] = versions.gke_autoscaling_metric()


def changes(name: str) -> dict[str, object]:
    return {**WITHOUT_DOOR["eu4a"], **{f"llmd-gke:{key}": value for key, value in VARIANTS[name].items()}}


def variant(name: str, *, preview: bool = False) -> Graph:
    """The graph of a variant. Shared between tests: do not change it."""
    return load(ROOT, "eu4a", preview=preview, changes=changes(name))
