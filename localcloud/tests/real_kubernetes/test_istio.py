"""The stack whose Gateway is Istio's: its own control plane and agent, with upstream's Envoy, as pods.

Skipped where they are not built, also with ``make test CLOUD=laptop``: ``.ci/full istio`` builds them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.manifests import naming
from localcloud import binaries
from localcloud.cluster.lifecycle import ISTIO_PROGRAMS
from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes import streams as many
from localcloud.tests.real_kubernetes.harness import Laptop, brought_up, until
from localcloud.tests.real_kubernetes.objects import MODELS, Object
from localcloud.tests.real_kubernetes.programs import need, skip_unless_built
from localcloud.tests.real_kubernetes.serving import ask, chat, prompt
from localcloud.workflow import state

STACK = "istio"
GATEWAYS, ROUTES = "gateways.gateway.networking.k8s.io", "httproutes.gateway.networking.k8s.io"
POOL = ("inferencepools.inference.networking.k8s.io", "qwen-inference-pool")
NAME = "qwen"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    need(binaries.names())
    skip_unless_built(ISTIO_PROGRAMS)
    variables = {"LLMD_GKE_SIMULATOR_ARGS": "--inter-token-latency 30ms"}
    with brought_up(tmp_path_factory.mktemp("istio"), STACK, environment=variables) as made:
        yield made


def outputs(stack: Laptop) -> Any:
    present = state.read(stack.workdir, STACK)
    assert present is not None
    return present.outputs


def says(stack: Laptop, request: Object) -> Any:
    """The answer below the model's URL."""
    (answer,) = ask(stack, outputs(stack)["models"][NAME]["url"], request)
    return answer


def status(stack: Laptop, request: Object) -> int:
    return says(stack, request)["status"]


HELLO = chat("hello", model=NAME, path="v1/chat/completions")
LONG = chat(prompt(200, 2), model=NAME, path="v1/chat/completions", max_tokens=200)


def written(stack: Laptop, kind: str, name: str) -> Object:
    """An object without what the API server has added."""
    one = stack.get(kind, name, "-n", MODELS)
    metadata = {"name": name, "namespace": MODELS}
    return {"apiVersion": one["apiVersion"], "kind": one["kind"], "metadata": metadata, "spec": one["spec"]}


def test_the_model_answers_at_the_address_that_google_has_reserved(stack: Laptop) -> None:
    assert stack.first_up.count("Answer after") == 1, stack.first_up
    (service,) = [one for one in objects.every(stack, "services") if one["spec"]["type"] == "LoadBalancer"]
    assert service["status"]["loadBalancer"]["ingress"][0]["ip"] == outputs(stack)["gatewayIp"]
    assert [status(stack, {"path": path}) for path in ("health", "v1/models")] == [200, 200]
    answer = says(stack, {**HELLO, "body": {**HELLO["body"], "stream": True}})
    assert (answer["status"], answer["text"][-14:]) == (200, "data: [DONE]\n\n")


def test_without_the_rule_that_speaks_tls_to_the_picker_only_completions_fail(stack: Laptop) -> None:
    rule = written(stack, "destinationrules", f"{NAME}-picker")
    stack.kubectl("delete", "destinationrules", f"{NAME}-picker", "-n", MODELS)
    try:
        until(lambda: status(stack, HELLO) == 500, "an answer without the picker")
        assert status(stack, {"path": "health"}) == 200
    finally:
        stack.apply(rule)
    until(lambda: status(stack, HELLO) == 200, "the picker's answer")


def test_a_route_limits_the_time_of_a_request(stack: Laptop) -> None:
    route = written(stack, ROUTES, naming.route(NAME))
    hasty = [{**rule, "timeouts": {"request": "1s"}} for rule in route["spec"]["rules"]]
    assert status(stack, LONG) == 200
    stack.apply({**route, "spec": {**route["spec"], "rules": hasty}})
    try:
        until(lambda: status(stack, LONG) == 504, "the end of a request at its limit")
    finally:
        stack.apply(route)


def test_a_gateway_of_gkes_at_the_same_pool_fights_with_no_controller(stack: Laptop) -> None:
    route = written(stack, ROUTES, naming.route(NAME))
    rules = [{key: rule[key] for key in rule if key != "timeouts"} for rule in route["spec"]["rules"]]
    listener = {"name": "http", "port": 80, "protocol": "HTTP"}
    gateway = {
        "apiVersion": route["apiVersion"],
        "kind": "Gateway",
        "metadata": {"name": "gke", "namespace": MODELS},
        "spec": {"gatewayClassName": "gke-l7-rilb", "listeners": [listener]},
    }
    metadata = {"name": "beside", "namespace": MODELS}
    stack.apply(gateway, {**route, "metadata": metadata, "spec": {"parentRefs": [{"name": "gke"}], "rules": rules}})

    def accepted() -> int:
        parents = stack.get(*POOL, "-n", MODELS)["status"]["parents"]
        return len([one for one in parents if objects.condition({"status": one}, "Accepted") == "True"])

    try:
        until(lambda: accepted() == 2, "both Gateways in the pool's status")
        watch = ("--watch", "--request-timeout=4s", "-o", "name")
        seen = stack.kubectl("get", *POOL, "-n", MODELS, *watch, check=False).splitlines()
        assert 1 <= len(seen) <= 2, seen  # the first is the pool as it was
    finally:
        stack.kubectl("delete", ROUTES, "beside", "-n", MODELS)
        stack.kubectl("delete", GATEWAYS, "gke", "-n", MODELS)


def without_timeouts(stack: Laptop, folder: Path) -> None:
    """Does what the preview says of a way from Istio to GKE, once GKE's Gateway has refused the routes."""
    place = (GATEWAYS, naming.GATEWAY_NAME, "-n", naming.GATEWAY_NAMESPACE, "-o", "json")
    until(lambda: "GWCER104" in stack.kubectl("get", *place, check=False), "GKE's refusal", 300)
    for route in json.loads(stack.kubectl("get", ROUTES, "-n", MODELS, "-o", "json"))["items"]:
        for rule in route["spec"]["rules"]:
            rule.pop("timeouts", None)
        (folder / "route.json").write_text(json.dumps(route))
        stack.kubectl("replace", "-f", str(folder / "route.json"))


def test_a_running_model_moves_to_gkes_gateway_and_back(stack: Laptop, tmp_path: Path) -> None:
    before = outputs(stack)
    wanted = [{"model": NAME, "key": "none", "count": 200}]
    with many.streams(stack, tmp_path / "streams", before["models"][NAME]["url"], wanted) as load:
        for name in ("gke", "istio"):
            load.await_more(200, NAME)
            stack.edit(STACK, lambda config, name=name: config["llmd-gke:gateway"].update({"class": name}))
            with ThreadPoolExecutor(1) as beside:
                waiting = beside.submit(without_timeouts, stack, tmp_path) if name == "gke" else None
                stack.up(STACK)
                if waiting is not None:
                    waiting.result()
        assert all(one["whole"] for one in load.await_more(200, NAME)[-100:])
    assert outputs(stack)["gatewayIp"] == before["gatewayIp"]


def test_down_ends_istio_with_everything_else(stack: Laptop) -> None:
    """The last test here."""
    assert "Nothing is left: " in stack.down().stdout
    assert stack.everything() == []
