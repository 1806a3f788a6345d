"""Conditions of KServe and of the gateway in words, and the update that hangs while everything looks ready."""

from __future__ import annotations

from typing import Any

import pytest

from operations.status import events, gateway, nodes, services
from operations.status.objects import Line, Snapshot, State
from tests.operations.status.shapes import (
    NOW,
    READY_SERVICE,
    attached,
    condition,
    container,
    event,
    node,
    policy,
    server,
    service,
)
from tests.operations.status.shapes import gateway as a_gateway

OLD = server("qwen-kserve-old-1", ready=True, version="old", age=600)
NEW = server("qwen-kserve-new-1", version="new", scheduled=False, age=30)
GOOD_PARENT = (condition("Accepted"), condition("ResolvedRefs"))


def of_model(**kinds: Any) -> list[Line]:
    snapshot = Snapshot(now=NOW, **kinds)
    return services.lines(snapshot, "models", "qwen", 1, stopped=False, stack="eu4a")


def bad(lines: list[Line]) -> list[str]:
    return [line.subject for line in lines if line.state is State.BAD]


def test_a_served_model_has_nothing_but_good_lines() -> None:
    lines = of_model(pods=[server(ready=True)], services=[READY_SERVICE])
    assert {line.state for line in lines} == {State.GOOD}


def test_an_update_that_hangs_behind_a_ready_service_is_seen() -> None:
    lines = of_model(pods=[OLD, NEW], services=[READY_SERVICE])
    assert bad(lines) == ["qwen: update"]
    update = next(line for line in lines if line.subject == "qwen: update")
    assert "1 new server(s) wait for a host although KServe reports Ready" in update.text
    assert "maxNodes" in update.fix


@pytest.mark.parametrize(
    "pods",
    [
        [OLD],
        [OLD, server("qwen-kserve-old-2", version="old", scheduled=False, age=30)],
        [OLD, server("qwen-kserve-new-1", container("main"), version="new", age=30)],
        [OLD, server("qwen-kserve-new-1", ready=True, version="new", age=30)],
    ],
    ids=["no update", "more replicas of the same version", "an update that runs", "an update that is through"],
)
def test_what_is_no_hanging_update_is_not_called_one(pods: list[dict[str, Any]]) -> None:
    assert bad(of_model(pods=pods, services=[READY_SERVICE])) == []


@pytest.mark.parametrize(
    ("kind", "status", "reason", "message", "text", "state"),
    [
        ("HTTPRoutesReady", "False", "RefsInvalid", "HTTPRoute models/x not found", "does not exist", State.BAD),
        ("PresetsCombined", "False", "ConfigNotFound", "", "does not exist", State.BAD),
        ("PresetsCombined", "False", "CombineBaseError", "template: x", "could not merge", State.BAD),
        ("InferencePoolReady", "False", "WaitingForGateway", "", "has not accepted it yet", State.BUSY),
        ("MainWorkloadReady", "False", "Error", "unsupported schema in model URI: gs://b", "cannot load", State.BAD),
        ("MainWorkloadReady", "False", "MinimumReplicasUnavailable", "", "not all servers are ready", State.BUSY),
        ("MainWorkloadReady", "False", "ProgressDeadlineExceeded", "", "stopped waiting", State.BAD),
        ("WorkerWorkloadReady", "False", "ReconcileMultiNodeWorkloadError", "", "LeaderWorkerSet", State.BAD),
        ("SchedulerWorkloadReady", "False", "MinimumReplicasUnavailable", "", "endpoint picker", State.BUSY),
        ("SchedulerWorkloadReady", "False", "SchedulerReconcileError", "", "endpoint picker", State.BAD),
        ("ScalingReady", "False", "ScalingCRDNotFound", "", "autoscaler", State.BAD),
    ],
)
def test_kserves_reasons_are_told_in_words(
    kind: str, status: str, reason: str, message: str, text: str, *, state: State
) -> None:
    conditions = [condition(kind, status, reason, message), condition("Ready", "False", reason)]
    lines = services.service_lines(service(*conditions), "eu4a")
    assert [line.state for line in lines] == [state, state]
    assert text in lines[1].text
    assert "{" not in lines[1].fix


def test_a_reason_nobody_has_met_is_shown_as_kserve_writes_it() -> None:
    lines = services.service_lines(service(condition("NewThingReady", "False", "NewReason", "something new")), "eu4a")
    assert lines[1].subject == "qwen: NewThingReady=False (NewReason)"
    assert lines[1].text == "something new"


def test_a_service_that_kserve_has_not_looked_at_again_is_not_called_finished() -> None:
    lines = services.service_lines(service(condition("Ready"), generation=3, observed=2), "eu4a")
    assert [line.state for line in lines] == [State.GOOD, State.BUSY]


def test_a_service_that_nobody_looks_at_points_to_the_controller() -> None:
    [line] = services.service_lines(service(), "eu4a")
    assert line.fix == "kubectl -n kserve get pods"


def test_a_service_that_does_not_exist_is_bad_but_one_that_could_not_be_read_is_not() -> None:
    assert bad(of_model()) == ["qwen"]
    assert bad(of_model(unreadable={"services": "forbidden"})) == []


@pytest.mark.parametrize(
    ("result", "state", "part"),
    [
        (a_gateway(), State.GOOD, "programmed at 10.0.0.9, 1 route(s) attached"),
        (a_gateway(address="10.9.9.9"), State.BAD, "outputs have 10.0.0.9"),
        (a_gateway(routes=0), State.BUSY, "no route attached"),
        (a_gateway(condition("Accepted"), condition("Programmed", "False", "Pending")), State.BUSY, "is programming"),
        (
            a_gateway(condition("Accepted"), condition("Programmed", "False", "AddressNotUsable")),
            State.BAD,
            "reserved address",
        ),
        (a_gateway(condition("Accepted")), State.BUSY, "Programmed is not set"),
    ],
)
def test_a_gateway_says_whether_it_serves_and_why_not(result: dict[str, Any], state: State, part: str) -> None:
    [line] = gateway.lines(Snapshot(gateways=[result]), "10.0.0.9", "eu4a")
    assert line.state is state
    assert part in line.text


def edge(*route: dict[str, Any], policies: bool = True, attached_policies: bool = True) -> list[Line]:
    targets = ("qwen-inference-pool", "qwen-kserve-workload-svc") if policies else ()
    state = condition("Attached") if attached_policies else condition("Attached", "False", "GatewayNotFound")
    made = [policy(target, state) for target in targets]
    snapshot = Snapshot(
        routes=[attached("HTTPRoute", "qwen-route", *route)],
        pools=[attached("InferencePool", "qwen-inference-pool", condition("Accepted"))],
        health_policies=made,
        backend_policies=made,
    )
    return gateway.model_lines(snapshot, "models", "qwen", "eu4a")


def test_route_policies_and_pool_in_order_are_three_good_lines() -> None:
    lines = edge(*GOOD_PARENT)
    assert [(line.subject, line.state) for line in lines] == [
        ("qwen: route", State.GOOD),
        ("qwen: policies", State.GOOD),
        ("qwen: pool", State.GOOD),
    ]


def test_a_route_that_gke_refuses_is_named_and_a_backend_that_kserve_has_not_made_yet_is_waited_for() -> None:
    message = "Error GWCER104: HTTPRoute is misconfigured, err: Timeouts are not supported."
    lines = edge(condition("Accepted", "False", "UnsupportedValue", message), condition("ResolvedRefs"))
    assert bad(lines) == ["qwen: route"]
    assert "no change to the Gateway" in lines[0].text
    waits = edge(condition("Accepted"), condition("ResolvedRefs", "False", "BackendNotFound"))
    assert waits[0].state is State.BUSY


def test_policies_that_are_missing_or_not_in_force_are_bad_for_pool_and_service() -> None:
    assert len(bad(edge(*GOOD_PARENT, policies=False))) == 4
    lines = edge(*GOOD_PARENT, attached_policies=False)
    assert len(bad(lines)) == 4
    assert "kubectl -n models get healthcheckpolicy" in lines[1].fix


@pytest.mark.parametrize(("status", "state"), [("True", State.GOOD), ("False", State.BAD)])
def test_a_route_that_gke_has_not_reconciled_is_bad_although_it_is_accepted(status: str, state: State) -> None:
    reconciled = condition("Reconciled", status, "ReconciliationFailed", "GWCER102")
    route = attached("HTTPRoute", "qwen-route", *GOOD_PARENT, reconciled)
    lines = gateway.model_lines(Snapshot(now=NOW, routes=[route]), "models", "qwen", "eu4a")
    (result,) = [line for line in lines if line.subject == "qwen: route"]
    assert result.state is state
    assert (status == "True") or "kubectl -n models get httproute qwen-route" in result.fix


def test_chips_in_use_and_nodes_about_to_go_are_counted() -> None:
    pool = nodes.PoolPlan("v6e-1", "ct6e-standard-1t 1x1", 4)
    going = node("gke-v6e-2", taints=("cloud.google.com/impending-node-termination",))
    lines = nodes.lines([node(), going, node("gke-system-1", "system")], [server(ready=True)], [pool])
    assert lines[0].text == "2 of 2 nodes ready (at most 4), 1 of 2 chips in use, idle: gke-v6e-2, 1 being removed"
    assert [line.state for line in lines] == [State.BUSY, State.GOOD]


def test_a_ready_node_without_chips_is_not_idle_and_leads_to_its_device_plugin() -> None:
    empty = node("gke-v6e-2")
    empty["status"]["allocatable"] = {"google.com/tpu": "0"}
    (line, _) = nodes.lines([node(), empty], [server(ready=True)], [nodes.PoolPlan("v6e-1", "1x1", 4)])
    assert "1 of 1 chips in use; gke-v6e-2: the node's device plugin" in line.text
    assert line.fix.endswith("spec.nodeName=gke-v6e-2")


def test_events_are_translated_once_and_old_or_settled_ones_are_left_out() -> None:
    stockout = "Node scale up in zones europe-west4-a associated with this pod failed: GCE_STOCKOUT. Pod is at risk"
    lines = events.lines(
        [
            event("FailedScaleUp", "qwen-1", stockout, ago=2, count=3),
            event("FailedScaleUp", "qwen-1", stockout, ago=4),
            event("FailedScaleUp", "qwen-0", stockout, ago=90),
            event("FailedScheduling", "qwen-2", "0/3 nodes are available: 3 Insufficient google.com/tpu."),
            event("BackOff", "settled", "Back-off restarting failed container"),
            event("Scheduled", "qwen-1", "Successfully assigned"),
        ],
        {"models"},
        NOW,
        "eu4a",
        {"qwen-0", "qwen-1", "qwen-2"},
    )
    assert [(line.subject, line.state) for line in lines] == [("qwen-1", State.BAD), ("qwen-2", State.UNKNOWN)]
    assert "no free TPU of this type" in lines[0].text
    assert "3 times" in lines[0].text
    assert lines[0].fix == "llmd-gke doctor --stack eu4a --probe"
