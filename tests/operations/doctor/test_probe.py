"""The TPU host that ``doctor --probe`` makes, and always removes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmd_gke.settings import PoolSettings, StackSettings
from llmd_gke.settings.sections.capacity import ReservationSettings
from operations.doctor.context import Context
from operations.doctor.probe import probe, walk
from operations.doctor.result import CheckStatus, Result, failed, ok, skipped
from tests.operations.doctor.emulated import PROJECT, ZONE, Google


def test_a_host_that_is_there_is_made_for_a_moment_and_removed(google: Google, context: Context) -> None:
    google.make_subnet()
    (result,) = probe(context, context.settings.pools[0])
    assert result.status is CheckStatus.OK
    (body,) = google.made()
    assert body["machineType"].endswith(f"zones/{ZONE}/machineTypes/ct6e-standard-4t")
    assert body["disks"][0]["initializeParams"]["diskType"].endswith("hyperdisk-balanced")
    assert "accessConfigs" not in body["networkInterfaces"][0]
    assert google.named("instances") == set()


def test_a_host_of_a_machine_type_without_gpus_asks_for_them(google: Google, t4: StackSettings) -> None:
    google.make_subnet()
    (result,) = probe(Context("gpu", t4), t4.pools[0])
    assert result.status is CheckStatus.OK
    ((gpus,),) = (body["guestAccelerators"] for body in google.made())
    assert gpus == {"acceleratorType": f"zones/{ZONE}/acceleratorTypes/nvidia-tesla-t4", "acceleratorCount": 2}


def test_a_stock_out_is_told_within_seconds_and_leaves_neither_host_nor_vpc(google: Google, context: Context) -> None:
    google.conditions(stockout=[ZONE])
    (result,) = probe(context, context.settings.pools[0])
    assert result.status is CheckStatus.FAILED
    assert "stock-out" in result.message
    assert google.named("instances") == google.named("networks") == set()


def interrupted_probe(google: Google, context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes while Google makes the host."""
    google.make_subnet()
    wait = context.google.wait

    def interrupted(operation: dict[str, object], zone: str, seconds: float) -> dict[str, object]:
        if operation["operationType"] == "insert":
            assert google.named("instances")
            raise KeyboardInterrupt
        return wait(operation, zone, seconds)

    monkeypatch.setattr(context.google, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(probe(context, context.settings.pools[0]))


def test_ctrl_c_while_a_host_is_being_made_removes_it(
    google: Google, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted_probe(google, context, monkeypatch)
    assert google.named("instances") == set()


def test_ctrl_c_that_leaves_a_host_says_which_one_and_how_to_remove_it(
    google: Google, context: Context, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    google.fails("compute.instances.delete", 403)
    interrupted_probe(google, context, monkeypatch)
    stderr = capsys.readouterr().err
    assert "costs money" in stderr
    assert "gcloud compute instances delete llmd-gke-probe-" in stderr


def test_a_host_that_cannot_be_removed_is_named_with_the_command_that_removes_it(
    google: Google, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    google.make_subnet()
    google.fails("compute.instances.delete", 403)
    result = list(probe(context, context.settings.pools[0]))
    assert result[-1].status is CheckStatus.WARNING
    assert "costs money" in result[-1].message
    assert "gcloud compute instances delete llmd-gke-probe-" in result[-1].fix


def test_a_host_that_appears_after_its_request_was_cut_off_is_removed(
    google: Google, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    google.make_subnet()
    ask = context.google.ask
    asked: list[str] = []

    def cut_off(method: str, **arguments: object) -> dict[str, object]:
        asked.append(method)
        if method == "compute.instances.insert":
            raise KeyboardInterrupt
        if method == "compute.instances.delete" and asked.count(method) == 2:  # Google makes it only now
            google.appears(f"projects/{PROJECT}/zones/{ZONE}/instances/{arguments['instance']}")
        return ask(method, **arguments)

    monkeypatch.setattr(context.google, "ask", cut_off)
    with pytest.raises(KeyboardInterrupt):
        list(probe(context, context.settings.pools[0]))
    assert asked.count("compute.instances.delete") == 2
    assert google.named("instances") == set()


def test_in_an_empty_project_a_vpc_is_made_for_the_moment_and_removed(google: Google, context: Context) -> None:
    (result,) = probe(context, context.settings.pools[0])
    assert result.status is CheckStatus.OK, result.message
    network, subnet, host = google.made()
    assert network["autoCreateSubnetworks"] is False
    assert subnet["network"].endswith(network["name"])
    assert host["networkInterfaces"][0]["subnetwork"].endswith(f"/subnetworks/{subnet['name']}")
    assert google.named("instances") == google.named("networks") == google.named("subnetworks") == set()


def test_another_zone_is_looked_into_with_a_subnet_of_its_region(google: Google, context: Context) -> None:
    (result,) = probe(context, context.settings.pools[0], "us-east5-b")
    assert result.status is CheckStatus.OK
    assert "us-east5-b" in result.message
    assert any("/regions/us-east5/subnetworks" in path for path in google.calls)


def reserved(context: Context, **reservation: str) -> PoolSettings:
    (pool,) = context.settings.pools
    chosen = ReservationSettings.model_validate({"name": "mine", **reservation})
    return pool.model_copy(update={"capacity": "reservation", "reservation": chosen})


@pytest.mark.parametrize(
    ("used", "machine", "verdict", "text"),
    [
        ("0", "ct6e-standard-4t", CheckStatus.OK, "4 of 4 hosts free"),
        ("3", "ct6e-standard-4t", CheckStatus.FAILED, "1 of 4 hosts free, but the pool may need 4"),
        ("0", "ct6e-standard-1t", CheckStatus.FAILED, "is for ct6e-standard-1t"),
    ],
)
def test_a_reservation_is_read_instead_of_probed(
    google: Google, context: Context, used: str, machine: str, verdict: CheckStatus, *, text: str
) -> None:
    hosts = {"count": "4", "inUseCount": used, "instanceProperties": {"machineType": machine}}
    google.make(f"zones/{ZONE}/reservations", {"name": "mine", "specificReservation": hosts})
    (result,) = probe(context, reserved(context))
    assert (result.status, text in result.message) == (verdict, True), result.message
    assert google.made() == []


def test_a_reservation_that_is_not_there_is_named(google: Google, context: Context) -> None:
    (result,) = probe(context, reserved(context))
    assert result.status is CheckStatus.FAILED
    assert f"reservation mine does not exist in {ZONE}" in result.message


def test_flex_start_is_not_probed_and_says_why(google: Google, context: Context) -> None:
    (pool,) = context.settings.pools
    (result,) = probe(context, pool.model_copy(update={"capacity": "flex-start"}))
    assert (result.status, "queue" in result.message) == (CheckStatus.SKIPPED, True)


def in_order(context: Context, *kinds: str) -> PoolSettings:
    """The stack's pool with a list of capacities."""
    entries = [{"kind": kind} for kind in kinds]
    given = context.settings.pools[0].model_dump(by_alias=True, exclude_unset=True)
    return PoolSettings.model_validate({**given, "capacity": entries})


LISTED = ("on-demand", "flex-start", "spot")


@pytest.mark.parametrize(
    ("kinds", "found", "verdicts", "message"),
    [
        (LISTED, (failed, skipped, ok), "WARNING SKIPPED OK OK", "its hosts would come from {}-spot now"),
        (
            LISTED,
            (failed, skipped, failed),
            "WARNING SKIPPED WARNING WARNING",
            "its hosts would wait in the queue of {}-flex-start now",
        ),
        (
            ("on-demand", "spot"),
            (failed, failed),
            "FAILED FAILED FAILED",
            "no entry of the list is known to have hosts now",
        ),
    ],
)
def test_a_list_gets_its_hosts_from_the_first_entry_that_has_some_and_others_only_warn(
    context: Context, kinds: tuple[str, ...], found: tuple[Callable[..., Result], ...], verdicts: str, *, message: str
) -> None:
    pool = in_order(context, *kinds)
    names = [f"capacity of {one.name}" for one in pool.node_pools]
    answers = walk(
        pool, [make(name, "words", *["wait"] * (make is failed)) for make, name in zip(found, names, strict=True)]
    )
    assert [one.check for one in answers] == [*names, f"capacity of {pool.name}"]
    assert [one.status.name for one in answers] == verdicts.split()
    assert answers[-1].message == message.format(pool.name)
