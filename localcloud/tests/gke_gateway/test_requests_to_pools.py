"""Requests through a real Envoy to an InferencePool: the picker decides, and what happens without it or its choice."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from localcloud.gke_gateway.envoy.common import SERVED, extension
from localcloud.gke_gateway.envoy.routes import UNMATCHED
from localcloud.providers.protocol.values import JsonObject
from localcloud.tests.gke_gateway import builders as b
from localcloud.tests.gke_gateway.lab import Lab
from localcloud.tests.gke_gateway.picker import Picker
from localcloud.tests.gke_gateway.servers import ModelServer, free_port
from tests.waiting import eventually

Serve = Callable[..., ModelServer]
PICKER_ADDRESS = "127.0.2.1"
PODS = ("127.0.1.1", "127.0.1.2", "127.0.1.3")


@pytest.fixture
def picker(tmp_path: Path) -> Iterator[Picker]:
    started = Picker(PICKER_ADDRESS, tmp_path)
    yield started
    started.close()


def objects(
    lab: Lab, picker: Picker, port: int, *, mode: str = "FailOpen", gateway_class: str = "gke-l7-rilb"
) -> list[JsonObject]:
    grpc: JsonObject = {"port": picker.health_port, "portSpecification": "USE_FIXED_PORT"}
    return [
        b.gateway(port=lab.port, gateway_class=gateway_class),
        b.route("inference", b.rule("/llm/qwen", b.to_pool("qwen"), filters=[b.rewrite("/")])),
        b.pool("qwen", port, picker_port=picker.port, mode=mode),
        b.service("picker", port=picker.port),
        b.endpoint_slice("picker", picker.port, PICKER_ADDRESS),
        b.health_policy("Service", "picker", config={"type": "GRPC", "grpcHealthCheck": grpc, "httpHealthCheck": None}),
        *[b.pod(f"pod-{address}", address, app="qwen") for address in PODS],
    ]


@pytest.fixture
def pods(serve: Serve) -> list[ModelServer]:
    port = free_port()
    return [serve(address, port) for address in PODS]


@pytest.fixture
def pool(lab: Lab, picker: Picker, pods: list[ModelServer]) -> list[JsonObject]:
    result = [*objects(lab, picker, pods[0].port), b.health_policy("InferencePool", "qwen")]
    lab.apply(*result)
    lab.await_healthy("_pool_", 3)
    lab.await_healthy("_picker_")
    return result


def ask(lab: Lab, size: int = 100) -> str:
    """The address of the pod that answered."""
    answer = lab.client.post("/llm/qwen/v1/chat/completions", content=b"x" * size)
    assert answer.is_success, answer.text
    assert answer.json()["bytes"] == size
    return str(answer.json()["pod"])


@pytest.mark.usefixtures("pool")
def test_the_picker_decides_and_sees_the_whole_body(lab: Lab, picker: Picker, pods: list[ModelServer]) -> None:
    for pod in (*pods, pods[0]):
        picker.choice = f"{pod.address}:{pod.port}"
        assert ask(lab) == pod.address
    # Larger than any buffer of Envoy.
    assert ask(lab, 5_000_000) == pods[0].address
    assert picker.bodies == [100] * 4 + [5_000_000]


@pytest.mark.usefixtures("pool")
def test_the_picker_learns_which_pod_answered_instead_of_its_choice(
    lab: Lab, picker: Picker, pods: list[ModelServer]
) -> None:
    picker.choice = f"{pods[0].address}:{pods[0].port}"
    pods[0].fails_before_the_answer = True
    assert picker.served == [f"{ask(lab)}:{pods[0].port}"]


@pytest.mark.usefixtures("pool")
def test_a_pod_cannot_name_another_that_answered_and_clients_do_not_see_the_name(
    lab: Lab, picker: Picker, pods: list[ModelServer]
) -> None:
    picker.choice = f"{pods[1].address}:{pods[1].port}"
    pods[1].answers_with = {SERVED: "127.0.1.9:1"}
    answer = lab.client.get("/llm/qwen/v1/models")
    assert picker.served == [picker.choice]
    assert SERVED not in answer.headers


def test_of_an_error_of_the_gateway_itself_the_picker_learns_no_pod(
    lab: Lab, picker: Picker, pods: list[ModelServer]
) -> None:
    lab.apply(*objects(lab, picker, pods[0].port))
    lab.await_healthy("_picker_")
    answer = lab.client.get("/llm/qwen/v1/models")
    assert (answer.status_code, answer.text) == (503, "no healthy upstream")
    assert set(picker.served) <= {""}


SELECT = """
function envoy_on_request(request)
  local path = request:headers():get("x-path")
  if path then
    request:headers():replace(":path", path)
    request:clearRouteCache()
  end
end
"""


def test_the_picker_of_a_route_that_another_filter_selects_decides(
    lab: Lab, picker: Picker, pods: list[ModelServer]
) -> None:
    lab.filters.append(
        extension("select", "envoy.extensions.filters.http.lua.v3.Lua", default_source_code={"inline_string": SELECT})
    )
    lab.apply(*objects(lab, picker, pods[0].port), b.health_policy("InferencePool", "qwen"))
    lab.await_healthy("_pool_", 3)
    lab.await_healthy("_picker_")
    for pod in pods:
        picker.choice = f"{pod.address}:{pod.port}"
        answer = lab.client.get("/no/route", headers={"x-path": "/llm/qwen/v1/models"})
        assert answer.json()["pod"] == pod.address
    away = lab.client.get("/llm/qwen/v1/models", headers={"x-path": "/no/route"})
    assert (away.status_code, away.text) == (404, UNMATCHED)


@pytest.mark.usefixtures("pool")
def test_what_is_no_http_request_is_refused_without_a_picker(lab: Lab) -> None:
    """Envoy answers it before it has a route: nothing has named a picker by then, or switched pickers off."""
    assert lab.client.base_url.port
    with socket.create_connection((lab.client.base_url.host, lab.client.base_url.port), 10) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 400"


@pytest.mark.usefixtures("pool")
def test_when_the_chosen_pod_fails_before_its_answer_another_one_gets_the_request(
    lab: Lab, picker: Picker, pods: list[ModelServer]
) -> None:
    picker.choice = f"{pods[0].address}:{pods[0].port}"
    pods[0].fails_before_the_answer = True
    assert {ask(lab) for _ in range(10)} <= {pods[1].address, pods[2].address}
    assert len(pods[0].asked) == 10


def test_a_choice_that_is_no_ready_pod_of_the_pool_is_not_followed(
    lab: Lab, picker: Picker, pods: list[ModelServer], pool: list[JsonObject]
) -> None:
    picker.choice = f"{pods[0].address}:{pods[0].port}"
    lab.apply(
        *[thing for thing in pool if thing["metadata"] != b.pod(f"pod-{PODS[0]}", PODS[0], app="qwen")["metadata"]]
    )
    lab.await_healthy("_pool_", 2)
    assert {ask(lab) for _ in range(10)} <= {pods[1].address, pods[2].address}
    assert pods[0].asked == []


@pytest.mark.usefixtures("pool")
def test_a_chosen_pod_that_fails_its_health_check_is_not_asked(
    lab: Lab, picker: Picker, pods: list[ModelServer]
) -> None:
    picker.choice = f"{pods[0].address}:{pods[0].port}"
    pods[0].health = 503
    lab.await_healthy("_pool_", 2)
    assert {ask(lab) for _ in range(10)} <= {pods[1].address, pods[2].address}
    assert pods[0].asked == []


@pytest.mark.usefixtures("pool")
def test_without_its_picker_a_pool_that_fails_open_serves_from_any_pod(
    lab: Lab, picker: Picker, pods: list[ModelServer]
) -> None:
    picker.choice = f"{pods[0].address}:{pods[0].port}"
    assert ask(lab) == pods[0].address
    picker.close()
    # The first may be lost: Envoy has handed on its body when it finds out that nobody listens.
    eventually(lambda: lab.client.post("/llm/qwen/v1/completions", content=b"{}").is_success)
    assert len({ask(lab) for _ in range(30)}) > 1


def test_without_its_picker_a_pool_that_fails_closed_serves_nothing(
    lab: Lab, picker: Picker, pods: list[ModelServer]
) -> None:
    closed = objects(lab, picker, pods[0].port, mode="FailClose")
    lab.apply(*closed, b.health_policy("InferencePool", "qwen"))
    lab.await_healthy("_pool_", 3)
    lab.await_healthy("_picker_")
    picker.choice = f"{pods[0].address}:{pods[0].port}"
    assert ask(lab) == pods[0].address
    picker.close()
    answer = lab.client.post("/llm/qwen/v1/completions", content=b"{}")
    assert answer.status_code == 500
    assert sum(len(pod.asked) for pod in pods) == 1


def test_without_a_policy_for_the_pool_no_pod_is_ever_healthy(
    lab: Lab, picker: Picker, pods: list[ModelServer]
) -> None:
    lab.apply(*objects(lab, picker, pods[0].port))
    eventually(lambda: all(pod.checked for pod in pods))
    picker.choice = f"{pods[0].address}:{pods[0].port}"
    answer = lab.client.post("/llm/qwen/v1/completions", content=b"{}")
    assert (answer.status_code, answer.text) == (503, "no healthy upstream")
    assert {path for pod in pods for path in pod.checked} == {"/"}


def test_a_pool_under_a_global_class_is_never_healthy_whatever_its_policy(
    lab: Lab, picker: Picker, pods: list[ModelServer]
) -> None:
    policy = b.health_policy("InferencePool", "qwen")
    lab.apply(*objects(lab, picker, pods[0].port, gateway_class="gke-l7-global-external-managed"), policy)
    answer = lab.answer("/llm/qwen/v1/models")
    assert (answer.status_code, answer.text) == (503, "no healthy upstream")
    assert lab.client.get("/llm/qwen/v1/models").status_code == 503
    assert [pod.checked for pod in pods] == [[], [], []]
