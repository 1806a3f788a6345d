"""The TPU host that ``doctor --probe`` makes, and always removes."""

from __future__ import annotations

import pytest

from operations.doctor.context import Context
from operations.doctor.probe import probe
from operations.doctor.result import Verdict
from tests.operations.doctor.google_standin import ZONE, Google, error


def test_a_host_that_is_there_is_made_for_a_moment_and_removed(google: Google, context: Context) -> None:
    google.subnets = [{"name": "default", "selfLink": "projects/p/regions/europe-west4/subnetworks/default"}]
    (found,) = probe(context, context.settings.tpu_pools[0])
    assert found.verdict is Verdict.OK
    (body,) = google.bodies
    assert body["machineType"].endswith(f"zones/{ZONE}/machineTypes/ct6e-standard-4t")
    assert body["disks"][0]["initializeParams"]["diskType"].endswith("hyperdisk-balanced")
    assert "accessConfigs" not in body["networkInterfaces"][0]
    assert google.instances == set()


def test_a_stock_out_is_told_within_seconds_with_what_else_may_be_tried(google: Google, context: Context) -> None:
    google.subnets = [{"name": "default", "selfLink": "projects/p/regions/europe-west4/subnetworks/default"}]
    google.operation_error = [{"code": "ZONE_RESOURCE_POOL_EXHAUSTED", "message": "does not have enough resources"}]
    (found,) = probe(context, context.settings.tpu_pools[0])
    assert found.verdict is Verdict.FAILED
    assert "stock-out" in found.said
    assert google.instances == set()


def test_ctrl_c_while_a_host_is_being_made_removes_it(
    google: Google, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    google.subnets = [{"name": "default", "selfLink": "projects/p/regions/europe-west4/subnetworks/default"}]
    wait = context.google.wait

    def interrupted(operation: dict[str, object], zone: str, seconds: float) -> dict[str, object]:
        if str(operation["name"]).startswith("insert"):
            assert google.instances
            raise KeyboardInterrupt
        return wait(operation, zone, seconds)

    monkeypatch.setattr(context.google, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(probe(context, context.settings.tpu_pools[0]))
    assert google.instances == set()


def test_ctrl_c_that_leaves_a_host_says_which_one_and_how_to_remove_it(
    google: Google, context: Context, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    google.subnets = [{"name": "default", "selfLink": "projects/p/regions/europe-west4/subnetworks/default"}]
    google.faults[r"/operations/delete-"] = error(403, "no")
    wait = context.google.wait

    def interrupted(operation: dict[str, object], zone: str, seconds: float) -> dict[str, object]:
        if str(operation["name"]).startswith("insert"):
            raise KeyboardInterrupt
        return wait(operation, zone, seconds)

    monkeypatch.setattr(context.google, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(probe(context, context.settings.tpu_pools[0]))
    said = capsys.readouterr().err
    assert "costs money" in said
    assert "gcloud compute instances delete llmd-gke-probe-" in said


def test_a_host_that_cannot_be_removed_is_named_with_the_command_that_removes_it(
    google: Google, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    google.subnets = [{"name": "default", "selfLink": "projects/p/regions/europe-west4/subnetworks/default"}]
    google.faults[r"/operations/delete-"] = error(403, "no")
    found = list(probe(context, context.settings.tpu_pools[0]))
    assert found[-1].verdict is Verdict.WARNING
    assert "costs money" in found[-1].said
    assert "gcloud compute instances delete llmd-gke-probe-" in found[-1].fix


def test_a_host_that_appears_after_its_request_was_cut_off_is_removed(
    google: Google, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    google.subnets = [{"name": "default", "selfLink": "projects/p/regions/europe-west4/subnetworks/default"}]
    ask = context.google.ask
    asked: list[str] = []

    def cut_off(method: str, **arguments: object) -> dict[str, object]:
        asked.append(method)
        if method == "compute.instances.insert":
            raise KeyboardInterrupt
        if method == "compute.instances.delete" and asked.count(method) == 2:  # Google makes it only now
            google.instances.add(str(arguments["instance"]))
        return ask(method, **arguments)

    monkeypatch.setattr(context.google, "ask", cut_off)
    with pytest.raises(KeyboardInterrupt):
        list(probe(context, context.settings.tpu_pools[0]))
    assert asked.count("compute.instances.delete") == 2
    assert google.instances == set()
