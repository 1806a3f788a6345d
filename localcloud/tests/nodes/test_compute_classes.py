"""Hosts that stay where they are; ``real_kubernetes/test_nodes.py`` shows those that move."""

from __future__ import annotations

from typing import Any

import pytest

from localcloud.nodes.compute_classes import preferences, to_leave
from localcloud.tests.nodes.objects import group, tpu_pool

RESERVED, SPOT = (tpu_pool(name) for name in ("reserved", "spot"))


def compute_class(*pools: list[str], **spec: Any) -> dict[str, Any]:
    """A class with a priority for each list of node pools."""
    return {"metadata": {"name": "v6e"}, "spec": {"priorities": [{"nodepools": one} for one in pools], **spec}}


@pytest.mark.parametrize("spec", [{}, {"activeMigration": {}}, {"activeMigration": {"optimizeRulePriority": False}}])
def test_pods_stay_where_they_are_unless_the_class_migrates(spec: dict[str, Any]) -> None:
    listed = preferences([compute_class(["reserved"], ["spot"], **spec)])
    assert to_leave([group(RESERVED, 0), group(SPOT, 2, 1)], listed, (RESERVED.id, SPOT.id)) is None
