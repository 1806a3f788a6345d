"""What the summary says about quota."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llmd_gke.settings import parse
from llmd_gke.settings.load import read_config
from operations.summary import quotas

ROOT = Path(__file__).parents[2]


def test_quota_is_added_up_over_pools_at_their_largest_and_spot_counts_apart() -> None:
    config: dict[str, Any] = read_config(ROOT, "eu4a")
    first = config["llmd-gke:pools"][0] | {"earlyHosts": 0}
    config["llmd-gke:pools"] += [
        {**first, "name": "slice", "topology": "4x4"},
        {**first, "name": "cheap", "capacity": "spot", "maxNodes": 2},
    ]
    assert quotas(parse(config, "eu4a").settings) == {
        ("TPUS_PER_TPU_FAMILY", "CT6E"): 32,
        ("PREEMPTIBLE_TPU_V6E", "CT6E"): 8,
    }
