from __future__ import annotations

from typing import Any

import pytest

from localcloud.nodes import status
from localcloud.nodes.states import ContainerRecord, Running, Terminated, Waiting

RUNS = Running("2026-01-01T00:00:00Z")


def ended(code: int) -> Terminated:
    return Terminated(code, "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "id")


def made(*states: Any, init: tuple[Any, ...] = (), **changed: Any) -> status.Pod:
    main = [ContainerRecord(f"m{number}", "i", state=state, ready=state is RUNS) for number, state in enumerate(states)]
    first = [ContainerRecord(f"i{number}", "i", state=state) for number, state in enumerate(init)]
    pod = status.Pod(first, main, "Always", "10.128.0.1", address="10.244.1.2", initialized=not init)
    for name, value in changed.items():
        setattr(pod, name, value)
    return pod


@pytest.mark.parametrize(
    ("pod", "phase"),
    [
        (made(Waiting("ContainerCreating")), "Pending"),
        (made(RUNS, Waiting("ContainerCreating")), "Running"),
        (made(Waiting("PodInitializing"), init=(RUNS,)), "Pending"),
        (made(Waiting("PodInitializing"), init=(ended(1),)), "Pending"),
        (made(ended(0), RUNS), "Running"),
        (made(ended(0), ended(0), ended=True), "Succeeded"),
        (made(ended(0), ended(2), ended=True), "Failed"),
        (made(Waiting("PodInitializing"), init=(ended(1),), ended=True), "Failed"),
        (made(RUNS, failed=("ContainerStatusUnknown", "x")), "Failed"),
    ],
)
def test_phases(pod: status.Pod, phase: str) -> None:
    assert status.phase(pod) == phase


def test_a_container_that_is_restarted_keeps_its_pod_running() -> None:
    pod = made(Waiting("CrashLoopBackOff"))
    pod.main[0].last = ended(1)
    assert status.phase(pod) == "Running"


def truths(pod: status.Pod, obj: dict[str, Any] | None = None) -> dict[str, str]:
    reported = status.status(pod, obj or {"metadata": {}, "spec": {}})
    return {one["type"]: one["status"] for one in reported["conditions"]}


def test_a_pod_is_ready_when_every_container_and_side_car_is() -> None:
    pod = made(RUNS, init=(RUNS,), initialized=True)
    pod.init[0].sidecar = pod.init[0].started = True
    assert truths(pod)["Ready"] == "False"
    pod.init[0].ready = True
    assert truths(pod)["Ready"] == truths(pod)["ContainersReady"] == "True"


def test_a_readiness_gate_holds_the_pod_back_until_somebody_opens_it() -> None:
    obj: dict[str, Any] = {"metadata": {}, "spec": {"readinessGates": [{"conditionType": "gate"}]}, "status": {}}
    assert truths(made(RUNS), obj) | {"Ready": "False", "ContainersReady": "True"} == truths(made(RUNS), obj)
    obj["status"]["conditions"] = [{"type": "gate", "status": "True"}]
    assert truths(made(RUNS), obj)["Ready"] == "True"


def test_a_condition_keeps_the_time_of_its_last_change() -> None:
    old = {"type": "Ready", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}
    obj = {"metadata": {}, "spec": {}, "status": {"conditions": [old]}}

    def since(pod: status.Pod) -> str:
        reported = status.status(pod, obj)["conditions"]
        return next(one["lastTransitionTime"] for one in reported if one["type"] == "Ready")

    assert since(made(RUNS)) == "2020-01-01T00:00:00Z"
    assert since(made(Waiting("x"))) > "2020-01-01T00:00:00Z"


def test_a_pod_has_one_address_whatever_it_had_before() -> None:
    # Lists of addresses are merged by address: without the mark, a second one would join the first, and be refused.
    reported = status.status(made(RUNS), {"metadata": {}, "spec": {}})["podIPs"]
    assert {"$patch": "replace"} in reported
    assert [one for one in reported if "ip" in one] == [{"ip": "10.244.1.2"}]
