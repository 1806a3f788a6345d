"""Faults on demand; ``published_provider/test_faults.py`` and ``life_cycle`` show that each one strikes."""

from __future__ import annotations

import re

import pytest

from localcloud.tests.google_api.conftest import GKE, POOL, Client, later

ON = {"fault": "world", "enabledApis": ["*"]}


def test_another_process_neither_ends_a_slow_operation_early_nor_leaves_out_its_ending(
    cluster: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.faults(ON, {"fault": "slow", "method": "container.*", "seconds": 100, "times": 1})
    # Numbers of processes mean nothing to one that lives in another PID namespace, and the first may be gone.
    monkeypatch.setattr("os.getpid", lambda: 2**22 + 1)
    operation = cluster.ok("POST", f"{GKE}/clusters/gke/nodePools", {"nodePool": POOL})
    monkeypatch.undo()
    other, path = Client(cluster.cloud.folder), f"{GKE}/operations/{operation['name']}"
    assert other.ok("GET", path)["status"] == "RUNNING"
    later(monkeypatch, 101)
    assert other.ok("GET", path)["status"] == "DONE"
    assert other.ok("GET", f"{GKE}/clusters/gke/nodePools/tpu")["status"] == "RUNNING"
    assert cluster.ok("GET", f"{GKE}/clusters/gke/nodePools/tpu")["status"] == "RUNNING"


def test_a_deletion_that_fails_late_gives_back_what_was_there_whoever_ends_it(
    cluster: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.faults(ON, {"fault": "slow", "seconds": 100, "times": 1}, {"fault": "operation", "times": 1})
    cluster.ok("DELETE", f"{GKE}/clusters/gke")
    other = Client(cluster.cloud.folder)
    assert other.ok("GET", f"{GKE}/clusters/gke")["status"] == "STOPPING"
    later(monkeypatch, 101)
    assert other.ok("GET", f"{GKE}/clusters/gke")["status"] == "RUNNING"


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ({"fault": "meteor"}, "'meteor'"),
        ({"fault": "slow", "second": 1}, "slow.second"),
        ({"fault": "error", "times": "two"}, "error.times: 'two'"),
        ({"fault": "error", "code": 200}, "error.code: 200"),
        ({"fault": "slow", "seconds": "5"}, "slow.seconds: '5'"),
        ({"fault": "world", "stockout": "us-east5-b"}, "world.stockout: 'us-east5-b'"),
    ],
)
def test_a_misspelt_fault_is_refused(client: Client, fault: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        client.faults(fault)
