"""Priorities under saturation: the first token of one caller while another one's streams keep a model busy.

Skipped where the front door's programs are not built: ``.ci/full front_door`` builds them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import pytest

from llmd_gke.settings.secret_keys import stand_in_key
from localcloud.cluster import lifecycle
from localcloud.tests.real_kubernetes.front_door import base, metrics_of_picker, stack_up
from localcloud.tests.real_kubernetes.harness import Laptop
from localcloud.tests.real_kubernetes.streams import set_times

MODEL, NAMESPACE = "small", "others"
CLIENT = Path(__file__).with_name("priorities_client.py")
AT_ONCE, IN_FLIGHT = 4, 4
"""Requests that the server works on at once, and that the picker lets through."""
STREAMS, PROBES = 24, 20
SERVER_SECONDS = 1
"""What the server needs for a first token."""


def limited(config: dict[str, Any]) -> None:
    config["llmd-gke:frontDoor"]["callers"] += [{"name": "bulk", "priority": -10}]
    config["llmd-gke:models"][1] |= {"maxNumSeqs": AT_ONCE, "scheduler": {"saturation": {"maxConcurrency": IN_FLIGHT}}}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    with stack_up(tmp_path_factory.mktemp("door-priorities"), limited, lifecycle.COUNTING_PICKER) as made:
        yield made


def test_the_first_token_of_a_high_priority_comes_within_twice_its_idle_time(stack: Laptop) -> None:
    set_times(stack, f"{SERVER_SECONDS}s", "50ms", NAMESPACE)
    plan = {
        "url": base(stack),
        "model": MODEL,
        "quick": stand_in_key("team-a"),
        "busy": stand_in_key("bulk"),
        "count": STREAMS,
        "probes": PROBES,
    }
    before = asked(stack)
    seen = json.loads(stack.inside(sys.executable, "-P", str(CLIENT), json.dumps(plan), timeout=300).stdout)
    print("| Caller | Requests | Median s | 90 % s | Most s |", "|---|--:|--:|--:|--:|", sep="\n")
    for caller, seconds in ((caller, seen[caller]) for caller in ("idle", "saturated", "batch")):
        figures = f"{median(seconds):.2f} | {quantiles(seconds, n=10)[-1]:.2f} | {max(seconds):.2f}"
        print(f"| {caller} | {len(seconds)} | {figures} |")
    assert seen["failed"] == 0, "every stream ended whole"
    requests = sum(len(seen[caller]) for caller in ("idle", "saturated", "batch"))
    assert asked(stack) - before == requests, "the picker, once for each request"
    assert median(seen["saturated"]) <= 2 * median(seen["idle"]), seen
    assert median(seen["batch"]) > 2 * median(seen["saturated"]), seen


def asked(stack: Laptop) -> int:
    """How many requests the picker was asked about."""
    counts = [line for line in metrics_of_picker(stack) if line.startswith("inference_objective_request_total{")]
    return sum(int(float(line.split()[-1])) for line in counts)
