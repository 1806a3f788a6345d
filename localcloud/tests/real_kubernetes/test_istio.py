"""The stack whose Gateway is Istio's: its own control plane and agent, with upstream's Envoy, as pods.

Skipped where they are not built, also with ``make test CLOUD=laptop``: ``.ci/full istio`` builds them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.catalog import kserve, metrics
from llmd_gke.gateways import istio
from llmd_gke.manifests import naming
from localcloud import binaries
from localcloud.cluster import front_door as door
from localcloud.cluster.lifecycle import ISTIO_PROGRAMS
from localcloud.gke_gateway.crds.upstream import GATEWAY_API
from localcloud.go_builds import modules
from localcloud.product import versions
from localcloud.tests.conformance import oracle, reasons, suites
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
    skip_unless_built((*ISTIO_PROGRAMS, *door.PROGRAMS, *suites.PROGRAMS))
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


ALPN = """
import socket, ssl, sys
context = ssl.create_default_context(cadata=sys.stdin.read() or None)
if not sys.argv[3]:
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
context.set_alpn_protocols(["h2", "http/1.1"])
with socket.create_connection((sys.argv[1], int(sys.argv[2])), 10) as raw:
    with context.wrap_socket(raw, server_hostname=sys.argv[3] or None) as connection:
        print(connection.selected_alpn_protocol())
"""


def negotiated(stack: Laptop, address: str, port: int, name: str = "", authority: str = "") -> str:
    """The protocol that a TLS client agrees on, which checks the server's certificate if it is given a ``name``."""
    command = (sys.executable, "-P", "-c", ALPN, address, str(port), name)
    return stack.inside(*command, stdin=authority).stdout.strip()


def test_the_picker_negotiates_h2_with_its_own_certificate_and_with_kserves(stack: Laptop) -> None:
    """Without ALPN Envoy ends each connection to it."""
    service = stack.get("service", kserve.picker_service(NAME), "-n", MODELS)
    assert negotiated(stack, service["spec"]["clusterIP"], kserve.PICKER_PORT) == "h2"
    deployments = objects.every(stack, "deployments", namespace=MODELS)
    (spec,) = [one["spec"]["template"]["spec"] for one in deployments if "router-scheduler" in objects.name(one)]
    (main,) = [one for one in spec["containers"] if one["name"] == "main"]
    main["args"] += ["--secure-serving", "--cert-path=/var/run/kserve/tls"]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "certified", "namespace": MODELS}}
    stack.apply({**pod, "spec": {**spec, "containers": [main]}})
    try:
        until(lambda: objects.is_ready(stack.get("pod", "certified", "-n", MODELS)), "a picker with a certificate")
        address = stack.get("pod", "certified", "-n", MODELS)["status"]["podIP"]
        assert negotiated(stack, address, kserve.PICKER_PORT) == "h2"
    finally:
        stack.kubectl("delete", "pod", "certified", "-n", MODELS)


def test_a_route_limits_the_time_of_a_request(stack: Laptop) -> None:
    route = written(stack, ROUTES, naming.route(NAME))
    hasty = [{**rule, "timeouts": {"request": "1s"}} for rule in route["spec"]["rules"]]
    assert status(stack, LONG) == 200
    stack.apply({**route, "spec": {**route["spec"], "rules": hasty}})
    try:
        until(lambda: status(stack, LONG) == 504, "the end of a request at its limit")
    finally:
        stack.apply(route)


def workloads(stack: Laptop) -> list[Object]:
    return objects.every(stack, "pods", "-l", "kserve.io/component=workload", namespace=MODELS)


def read(stack: Laptop) -> list[float]:
    """How many tokens of prompts each server has read."""
    pages = [ask(stack, f"http://{pod['status']['podIP']}:8000", {"path": "/metrics"})[0] for pod in workloads(stack)]
    counted = f"{metrics.Server.PROMPT_TOKENS}{{"
    lines = [[line for line in page["text"].splitlines() if line.startswith(counted)] for page in pages]
    return [sum(float(line.rpartition(" ")[2]) for line in found) for found in lines]


def test_prompts_with_one_beginning_go_to_one_server(stack: Laptop) -> None:
    chosen: list[int] = []
    for topic in range(10):
        begin, before = prompt(200, 90_000 + topic), read(stack)
        requests = [chat(f"{begin} {end}", model=NAME, path="v1/chat/completions", max_tokens=1) for end in "abcd"]
        ask(stack, outputs(stack)["models"][NAME]["url"], *requests)
        chosen += [server for server, tokens in enumerate(read(stack)) if tokens > before[server]]
    assert (len(chosen), {*chosen}) == (10, {0, 1}), "by chance all go to one server once in 512 runs"


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


def edited(stack: Laptop, **sections: object) -> None:
    """Changes sections of the settings (``None``: removes one), and updates the stack."""

    def change(config: Object) -> None:
        for name, section in sections.items():
            config.pop(f"llmd-gke:{name}", None) if section is None else config.update({f"llmd-gke:{name}": section})

    stack.edit(STACK, change)
    stack.up(STACK)


def test_in_the_mesh_servers_take_requests_of_the_gateway_only_and_are_still_read(stack: Laptop) -> None:
    edge = {"class": "istio", "exposure": "external", "allowPlainHttp": True, "open": True}
    edited(stack, gateway={**edge, "mesh": {"mtls": "permissive"}})
    pods = [one for one in workloads(stack) if objects.is_ready(one)]
    assert len([pod for pod in pods for one in pod["spec"]["initContainers"] if one["name"] == "istio-proxy"]) == 2
    assert status(stack, HELLO) == 200
    asked: list[tuple[Object, int]] = [
        (chat("hello", model=NAME), 403),
        ({"path": "/v1/models"}, 403),
        ({"path": "/health"}, 200),
        ({"path": "/metrics"}, 200),
    ]
    for pod in pods:
        direct = ask(stack, f"http://{pod['status']['podIP']}:8000", *(request for request, _ in asked))
        assert [one["status"] for one in direct] == [expected for _, expected in asked], direct
    edited(stack, gateway=edge)
    assert status(stack, HELLO) == 200


def test_upstreams_verdicts_on_the_class_are_those_of_istios_reports(stack: Laptop) -> None:
    crds = modules.folder(GATEWAY_API, versions.modules()[GATEWAY_API]) / "config/crd/standard"
    for plural in ("listenersets", "backendtlspolicies"):  # which GKE lacks, and istiod watches once they are there
        stack.kubectl("apply", "--server-side", "-f", str(crds / f"gateway.networking.k8s.io_{plural}.yaml"))
    # As upstream's ``conformance/scripts/istio/Makefile``, and for the pickers of the test of protocols.
    for which in ("primary", "secondary", "dp", "appprotocol-h2c", "appprotocol-http"):
        place = "inference-conformance-app-backend"
        stack.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}})
        stack.apply(istio.picker_rule(which, place, f"{which}-endpoint-picker-svc"))
    addresses = (
        "-usable-address=infra-backend-v1.gateway-conformance-infra.svc.cluster.local",
        "-unusable-address=foo",
    )
    asked = suites.Suites(stack, istio.CLASS, addresses)
    supported = [test for test in asked.tests() if oracle.ISTIO.expected(test) == "passes"]
    assert len(supported) == 37 + 54, "as the report counts core and extended ones"
    with ThreadPoolExecutor(1) as beside:
        running = beside.submit(asked.inference)
        # A Gateway is a Deployment, which takes a busy machine a minute.
        left_out = [test for test in supported if test.name in reasons.ISTIO]
        actual = asked.gateway_api(left_out, oracle.ISTIO.supported, seconds=120)
        inference = running.result()
    assert oracle.differences(supported, oracle.ISTIO, actual) == {*reasons.ISTIO}
    assert {name for name, verdict in inference.items() if verdict != "passes"} == {*reasons.ISTIO_INFERENCE}


def test_down_ends_istio_with_everything_else(stack: Laptop) -> None:
    """The last test here."""
    assert "Nothing is left: " in stack.down().stdout
    assert stack.everything() == []
