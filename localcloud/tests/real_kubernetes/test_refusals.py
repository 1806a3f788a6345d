"""What GKE refuses at great cost, each shown with an object that somebody broke by hand.

That the program has none of it is in ``test_edge.py``.
"""

from __future__ import annotations

import copy
from collections.abc import Generator, Iterator
from contextlib import contextmanager

import pytest

from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.objects import Object
from localcloud.tests.real_kubernetes.serving import Served, chat, prompt

ROUTES = "httproutes.gateway.networking.k8s.io"
HEALTH = "healthcheckpolicies.networking.gke.io"
BACKEND = "gcpbackendpolicies.networking.gke.io"
MODELS = {"path": "/v1/models"}


@pytest.fixture(scope="module")
def served(bare: Laptop) -> Iterator[Served]:
    # Forty tokens take longer than the thirty seconds that GKE gives a backend.
    made = Served(bare, "refusals", replicas=1, simulator="--inter-token-latency 900ms")
    made.start()
    made.await_answers()
    until(lambda: made.ask(chat("hello"))[0]["status"] == 200, "an answer of the pool")
    yield made
    made.remove()


@contextmanager
def without(served: Served, kind: str, name: str) -> Generator[None]:
    """One object is missing for a while."""
    part = next(part for key, part in served.parts.items() if key.endswith(f"Policy/{name}"))
    served.drop(kind, name)
    try:
        yield
    finally:
        served.put(part)


def answer(served: Served, request: Object) -> tuple[int, str]:
    (result,) = served.ask(request)
    return result["status"], result.get("text", "")


def test_timeouts_in_one_route_are_refused_and_freeze_the_whole_gateway(served: Served) -> None:
    broken = copy.deepcopy(served.parts["HTTPRoute/route"])
    broken["metadata"]["name"] = "broken"
    broken["spec"]["rules"] = [{**broken["spec"]["rules"][0], "timeouts": {"request": "600s"}}]
    moved = copy.deepcopy(served.parts["HTTPRoute/route"])
    moved["metadata"]["name"] = "moved"
    path = {"type": "PathPrefix", "value": "/moved"}
    replaced = {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/v1/models"}
    rewrite = {"type": "URLRewrite", "urlRewrite": {"path": replaced}}
    moved["spec"]["rules"] = [{**moved["spec"]["rules"][0], "matches": [{"path": path}], "filters": [rewrite]}]
    try:
        served.put(broken)
        until(lambda: objects.verdict(objects.one(served.laptop, ROUTES, "broken", served.namespace)), "a verdict")
        verdict = objects.verdict(objects.one(served.laptop, ROUTES, "broken", served.namespace))["Accepted"]
        assert (verdict["status"], verdict["reason"]) == ("False", "UnsupportedValue")
        assert verdict["message"] == (
            'Error GWCER104: HTTPRoute "refusals/broken" is misconfigured, err: Timeouts are not supported.'
        )
        until(lambda: objects.condition(served.gateway, "Programmed") == "False", "the Gateway's complaint")
        served.put(moved)
        # The listener counts it: the controller has seen it, and yet the path stays unknown.
        until(lambda: listed(served) == 3, "the count of attached routes")
        assert answer(served, {"path": "/moved"}) == (404, "fault filter abort")
        assert objects.verdict(objects.one(served.laptop, ROUTES, "moved", served.namespace)) == {}
        assert answer(served, MODELS)[0] == 200, "what was programmed before goes on"
        served.drop(ROUTES, "broken")
        until(lambda: answer(served, {"path": "/moved"})[0] == 200, "the route that waited")
        assert objects.condition(served.gateway, "Programmed") == "True"
    finally:
        for name in ("broken", "moved"):
            served.laptop.kubectl("delete", ROUTES, name, "-n", served.namespace, "--ignore-not-found")


def listed(served: Served) -> int:
    """Routes that the Gateway's listener counts."""
    return served.gateway["status"]["listeners"][0]["attachedRoutes"]


def test_a_pool_without_a_health_check_policy_has_no_healthy_upstream(served: Served) -> None:
    with without(served, HEALTH, "health-pool"):
        until(lambda: answer(served, chat("hello")) == (503, "no healthy upstream"), "the pool's end")
        assert answer(served, MODELS)[0] == 200, "the Service has a policy of its own"
    until(lambda: answer(served, chat("hello"))[0] == 200, "an answer of the pool")


def test_a_service_without_a_health_check_policy_has_no_healthy_upstream(served: Served) -> None:
    with without(served, HEALTH, "health-server"):
        until(lambda: answer(served, MODELS) == (503, "no healthy upstream"), "the Service's end")
        assert answer(served, chat("hello"))[0] == 200, "the pool has a policy of its own"
    until(lambda: answer(served, MODELS)[0] == 200, "an answer of the Service")


def test_without_a_backend_policy_an_answer_is_cut_after_thirty_seconds(served: Served) -> None:
    long = chat(prompt(45, 1))
    with without(served, BACKEND, "backend-pool"):
        until(lambda: "30s" in route_file(served), "the default in the routes")
        (cut,) = served.ask(long)
        assert (cut["status"], cut["text"]) == (504, "upstream request timeout")
        assert 29 < cut["seconds"] < 40
    until(lambda: "30s" not in route_file(served), "the policy in the routes")
    (whole,) = served.ask(long)
    assert (whole["status"], whole["seconds"] > 35) == (200, True)


def route_file(served: Served) -> str:
    """The routes that Envoy was given."""
    folder = served.laptop.layout.root / "gateway" / "envoy" / "rds"
    return (folder / f"{served.namespace}_gateway_80.json").read_text()


def test_https_to_a_server_of_plain_http_gives_a_tls_error(served: Served) -> None:
    service = served.parts["Service/server"]
    port = {**service["spec"]["ports"][0], "appProtocol": "https"}
    try:
        served.put({**service, "spec": {**service["spec"], "ports": [port]}})
        until(lambda: answer(served, MODELS)[0] == 503, "the error")
        until(lambda: any("WRONG_VERSION_NUMBER" in str(e["failure"]) for e in served.log()), "its cause in the log")
    finally:
        served.put({**service, "spec": {**service["spec"], "ports": [{**port, "appProtocol": "http"}]}})
    until(lambda: answer(served, MODELS)[0] == 200, "an answer over HTTP")


def test_a_pool_under_a_global_class_never_answers_while_a_service_does(bare: Laptop) -> None:
    made = Served(bare, "global", replicas=1, gateway_class="gke-l7-global-external-managed")
    try:
        made.start()
        made.await_answers()
        assert answer(made, chat("hello")) == (503, "no healthy upstream")
    finally:
        made.remove()
