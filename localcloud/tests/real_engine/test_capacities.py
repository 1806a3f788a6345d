"""A pool with capacities in order of preference on the real engine."""

from __future__ import annotations

from typing import Any

from localcloud.tests.real_engine.test_changes import UP, changes
from tests.real_engine.harness import APIS_ON, Rehearsal


def in_order(config: dict[str, Any]) -> None:
    config["llmd-gke:tpuPools"][0]["capacity"] = [{"kind": "on-demand"}, {"kind": "spot"}]


def test_a_running_pool_gets_a_list_of_capacities_without_a_new_service_and_stays_as_it_is(running: Rehearsal) -> None:
    running.edit("local", in_order)
    steps = changes(running.steps(*UP))
    (pool,) = {name.removesuffix("-class") for name in steps if name.endswith("-class")}
    assert steps.pop(f"{pool}-nodes") == "delete"
    for made in (f"{pool}-on-demand-nodes", f"{pool}-spot-nodes", f"{pool}-class"):
        assert steps.pop(made) == "create"
    # What selects the hosts changes in place.
    assert set(steps.values()) == {"update"}
    assert changes(running.steps("up", "--yes", "--skip-preview", "--refresh")) == {}


def test_hosts_of_a_list_are_asked_for_once_and_more_of_them_change_nothing_later(running: Rehearsal) -> None:
    running.edit("local", in_order)
    running.edit("local", lambda config: config["llmd-gke:tpuPools"][0].update(earlyHosts=1))
    steps = changes(running.steps(*UP))
    assert {steps["v6e4-early-job"], steps["v6e4-early-suspended"]} == {"create"}
    running.edit("local", lambda config: config["llmd-gke:tpuPools"][0].update(earlyHosts=2))
    assert changes(running.steps("up", "--yes", "--skip-preview", "--refresh")) == {}


def in_two_zones(config: dict[str, Any]) -> None:
    config["llmd-gke:cluster"]["zone"] = "us-east5-a"
    entries = [{"kind": "on-demand"}, {"kind": "on-demand", "zone": "us-east5-b"}]
    config["llmd-gke:tpuPools"][0]["capacity"] = entries


def test_a_zone_without_hosts_stops_nothing_while_the_next_entry_has_some(rehearsal: Rehearsal) -> None:
    rehearsal.edit("local", in_two_zones)
    rehearsal.faults({**APIS_ON, "stockout": ["us-east5-a", "us-east5-b"]})
    done = rehearsal.up(check=False)
    assert done.returncode == 1
    assert "v6e4-on-demand in us-east5-a: GCE out of resources" in done.stdout
    assert "v6e4-on-demand-b in us-east5-b: GCE out of resources" in done.stdout
    rehearsal.faults({**APIS_ON, "stockout": ["us-east5-a"]})
    assert rehearsal.up().returncode == 0
