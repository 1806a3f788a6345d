from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from llmd_gke.catalog.zones import PRICES_AS_OF, stale
from tests.operations.conftest import Clone
from tests.operations.support import run


def cost(clone: Clone, *arguments: str) -> dict[str, Any]:
    done = run("cost", "--stack", "one", "--output", "json", *arguments, root=clone.root)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_chips_nodes_and_price_are_the_pools_hosts_times_the_zones_price_and_the_fee(clone: Clone) -> None:
    price = cost(clone)
    amounts = {state: price["totals"][state] for state in ("idle", "running", "full")}
    assert {state: (one["nodes"], one["chips"]) for state, one in amounts.items()} == {
        "idle": (0, 0),
        "running": (3, 12),
        "full": (4, 16),
    }
    # us-east5, on demand: 2.70 USD per chip and hour; GKE's fee: 0.10.
    assert amounts["idle"]["usdPerHour"] == 0.10
    assert amounts["running"]["usdPerHour"] == pytest.approx(12 * 2.70 + 0.10)
    assert amounts["full"]["usdPerMonth"] == pytest.approx((16 * 2.70 + 0.10) * 730)


def test_capacities_in_order_have_a_price_each_and_the_totals_count_the_dearest_hosts(clone: Clone) -> None:
    clone.write(more=", capacity: [{kind: spot}, {kind: on-demand, maxNodes: 2}, {kind: flex-start}]")
    price = cost(clone)
    assert [(one["name"], one["usdPerChipHour"]) for one in price["pools"]] == [
        ("pool-spot", 1.215),
        ("pool-on-demand", 2.7),
        ("pool-flex-start", None),
    ]
    assert price["totals"]["running"]["nodes"] == 3
    # Two of the three hosts at the price of on-demand, one at that of spot.
    assert price["totals"]["running"]["usdPerHour"] == pytest.approx(8 * 2.70 + 4 * 1.215 + 0.10)
    shown = " ".join(run("cost", "--stack", "one", root=clone.root).stdout.split())
    assert (
        "pool: a host costs 4.86 (pool-spot) to 10.80 (pool-on-demand) USD an hour; pool-flex-start: no public price."
    ) in shown
    assert "maxNodes: PREEMPTIBLE_TPU_V6E, 16 chips" in shown
    assert "maxNodes: TPUS_PER_TPU_FAMILY (CT6E), 8 chips" in shown


def test_a_list_of_capacities_has_a_total_as_long_as_entries_with_a_price_have_hosts(clone: Clone) -> None:
    clone.write(more=", capacity: [{kind: on-demand, maxNodes: 3}, {kind: flex-start}]")
    totals = cost(clone)["totals"]
    assert totals["running"]["usdPerHour"] == pytest.approx(12 * 2.70 + 0.10)
    assert totals["full"]["usdPerHour"] is None


@pytest.mark.parametrize(
    ("access", "rules", "usd_per_month"),
    [
        ("{ranges: [192.0.2.0/24]}", 2, 7),
        ("{requestsPerMinutePerAddress: 600}", 2, 7),
        ("{ranges: [192.0.2.0/24], requestsPerMinutePerAddress: 600}", 2, 7),
        (f"{{ranges: [{', '.join(f'192.0.2.{number}/32' for number in range(11))}]}}", 3, 8),
    ],
)
def test_cloud_armor_costs_five_dollars_a_month_one_for_each_rule_and_its_requests(
    clone: Clone, access: str, rules: int, usd_per_month: float
) -> None:
    before = priced_with_door(clone, "{callers: [{name: team-a}]}")
    assert before["cloudArmor"] is None
    after = priced_with_door(clone, f"{{callers: [{{name: team-a}}], access: {access}}}")
    # https://cloud.google.com/armor/pricing, Standard tier, regional
    assert after["cloudArmor"] == {"rules": rules, "usdPerMonth": usd_per_month, "usdPerMillionRequests": 0.60}
    for state in ("leastUsdPerHour", "mostUsdPerHour"):
        more = after["besides"][state] - before["besides"][state]
        assert more * 730 == pytest.approx(usd_per_month, abs=0.05), "rounded to a hundredth of a cent"
    shown = " ".join(run("cost", "--stack", "one", root=clone.root).stdout.split())
    assert f"Cloud Armor: {usd_per_month}.00 USD a month for a policy with {rules} rules" in shown
    assert "0.60 USD per million requests" in shown


def priced_with_door(clone: Clone, door: str) -> dict[str, Any]:
    clone.write()
    gateway = "{exposure: external, allowPlainHttp: true}"
    clone.add(f"  llmd-gke:gateway: {gateway}\n  llmd-gke:frontDoor: {door}\n")
    return cost(clone)


@pytest.mark.parametrize(
    ("zone", "more"),
    [
        pytest.param("us-east5-b", ", capacity: flex-start", id="flex-start"),
        pytest.param("southamerica-west1-a", ", capacity: spot", id="no spot price in that region"),
        pytest.param("mars-west1-a", "", id="unknown zone"),
    ],
)
def test_where_no_price_is_public_there_is_none_not_a_sum_with_a_hole(clone: Clone, zone: str, more: str) -> None:
    clone.write(zone=zone, more=more)
    price = cost(clone)
    assert price["pools"][0]["usdPerChipHour"] is None
    assert price["totals"]["running"]["usdPerHour"] is None
    assert price["totals"]["running"]["usdPerMonth"] is None
    assert price["totals"]["running"]["chips"] == 12
    assert price["totals"]["idle"]["usdPerHour"] == 0.10
    shown = run("cost", "--stack", "one", root=clone.root)
    assert "no public price" in shown.stdout
    assert ("in mars-west1-a" in shown.stderr) is zone.startswith("mars")


def test_a_reservation_is_not_called_free_while_its_hosts_do_not_run(clone: Clone) -> None:
    clone.write(more=", capacity: reservation, reservation: {name: ours}")
    totals = cost(clone)["totals"]
    assert totals["idle"]["usdPerHour"] is None
    assert totals["full"]["usdPerHour"] == pytest.approx(16 * 2.70 + 0.10)
    assert "as reserved" in run("cost", "--stack", "one", root=clone.root).stdout


def test_a_million_tokens_cost_the_running_stacks_price_over_what_it_makes(clone: Clone) -> None:
    price = cost(clone, "--tokens-per-second", "1000")
    assert price["usdPerMillionOutputTokens"] == round(32.5 / 3.6, 4)


def test_a_token_has_no_price_where_the_stack_has_none(clone: Clone) -> None:
    clone.write(more=", capacity: flex-start")
    done = run("cost", "--stack", "one", "--tokens-per-second", "1000", root=clone.root)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "no public price" in done.stderr
    assert "Fix: " in done.stderr


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        *[("--tokens-per-second", one, "--tokens-per-second") for one in ("0", "-3", "nan", "inf", "many")],
        *[("--against", one, "Fix: git fetch") for one in ("no-such-branch", "--help", "HEAD~99", ":/", "")],
    ],
)
def test_a_value_that_means_nothing_is_refused(clone: Clone, option: str, value: str, message: str) -> None:
    done = run("cost", "--stack", "one", f"{option}={value}", root=clone.root)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_comparison_shows_both_sides_and_the_step(clone: Clone) -> None:
    before = clone.git("rev-parse", "HEAD")
    clone.write(replicas=2, most=3)
    price = cost(clone, "--against", before)
    assert price["change"] == {
        "idle": {"nodes": 0, "chips": 0, "usdPerHour": 0.0},
        "running": {"nodes": -1, "chips": -4, "usdPerHour": -10.8},
        "full": {"nodes": -1, "chips": -4, "usdPerHour": -10.8},
    }
    shown = run("cost", "--stack", "one", "--against", "HEAD", root=clone.root).stdout
    assert "│ running: nodes │      3 │      2 │     -1 │" in shown.splitlines()


def test_a_stack_that_the_revision_did_not_have_is_new(clone: Clone) -> None:
    clone.write("two")
    done = run("cost", "--stack", "two", "--against", "main", "--output", "json", root=clone.root)
    data = json.loads(done.stdout)
    assert data["before"] is None
    assert data["after"]["totals"]["full"]["chips"] == 16


def test_a_revision_whose_file_todays_code_refuses_is_named_with_its_problems(clone: Clone) -> None:
    clone.write(most=0)
    broken = clone.commit()
    clone.write()
    done = run("cost", "--stack", "one", "--against", broken, root=clone.root)
    assert done.returncode == 2
    assert "llmd-gke:pools[0].maxNodes" in done.stderr
    assert f"the file at {broken}" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_says_what_share_of_the_memory_the_weights_take(clone: Clone) -> None:
    assert cost(clone)["models"] == [{"name": "qwen", "weightsGb": 8.0, "sizeKnown": True, "hbmGb": 128}]


@pytest.mark.parametrize(
    ("model", "more", "line"),
    [
        ("", "", None),
        ("minReplicas: 1, maxReplicas: 3", "", "qwen (1 to 3 replicas); 10.90 to 32.50 USD an hour with GKE's fee."),
        ("minReplicas: 2, maxReplicas: 2", "", "qwen (2 replicas); 21.70 to 21.70 USD an hour with GKE's fee."),
        ("minReplicas: 1, maxReplicas: 3", ", capacity: flex-start", "qwen (1 to 3 replicas); no public price"),
        (
            'minReplicas: 1, maxReplicas: 3, schedule: {timeZone: UTC, hours: ["Mon-Fri 08:00-18:30"]}',
            "",
            "qwen (0 to 3 replicas, 52.5 of 168 hours a week); 0.10 to 32.50 USD an hour with GKE's fee.",
        ),
    ],
)
def test_the_price_of_autoscaled_models_is_a_range(clone: Clone, model: str, more: str, line: str | None) -> None:
    clone.write(more=more)
    clone.edit("replicas: 3", model or "replicas: 3")
    done = run("cost", "--stack", "one", root=clone.root)
    assert done.returncode == 0, done.stderr
    ranges = [one for one in done.stdout.splitlines() if one.startswith("Autoscaled: ")]
    assert ranges == ([] if line is None else [f"Autoscaled: {line}"])


def test_an_old_price_table_says_so_beside_the_table_and_never_in_json(clone: Clone) -> None:
    shown = run("cost", "--stack", "one", root=clone.root)
    old = stale(PRICES_AS_OF, date.today())
    assert ("The price table is" in shown.stderr) is (old is not None)
    assert old is None or old in shown.stderr
    assert run("cost", "--stack", "one", "--output", "json", root=clone.root).stderr == ""
