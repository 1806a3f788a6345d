"""Published clients through every Gateway that the program makes: internal and external, plain and over TLS.

The route is the program's own, for a model at its path; servers, picker and pool are made by hand. Answers are those of
llm-d's simulator, which repeats the prompt: what only vLLM would answer is said at the test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from llmd_gke.gateways.gke import REGIONAL_EXTERNAL, REGIONAL_INTERNAL
from llmd_gke.settings import ModelSettings
from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.clients import asking
from localcloud.tests.real_kubernetes.clients.asking import CLIENTS, SHORT, Endpoint
from localcloud.tests.real_kubernetes.clients.certificates import authority_and_secret
from localcloud.tests.real_kubernetes.clients.curl import curl
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.serving import NAMES, Served, chat, logged, program_route

NAMESPACE = "clients"
CLASSES = {"gateway": REGIONAL_INTERNAL, "external": REGIONAL_EXTERNAL}
GATEWAYS = ("internal, HTTP", "internal, HTTPS", "external, HTTP", "external, HTTPS")
MODEL = ModelSettings.model_validate({"name": "qwen", "namespace": NAMESPACE, "uri": "hf://a/b", "pool": "v6e4"})


@dataclass
class Suite:
    """The endpoints, and what clients saw of them, asked once each."""

    served: Served
    endpoints: dict[str, Endpoint]
    seen: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict[tuple[str, str], Mapping[str, Any]])

    def case(self, client: str, gateway: str, name: str) -> dict[str, Any]:
        """What a client saw of a case through a Gateway."""
        if (client, gateway) not in self.seen:
            self.seen[client, gateway] = asking.ask(self.served.laptop, client, self.endpoints[gateway])
        return self.seen[client, gateway][name]


def edge() -> list[objects.Object]:
    """Both Gateways with plain listeners, and the program's route at both of them."""
    return [*(gateway(name) for name in CLASSES), program_route(MODEL, *CLASSES)]


def gateway(name: str, *, encrypted: bool = False) -> objects.Object:
    listeners: list[Any] = [{"name": "http", "port": 80, "protocol": "HTTP"}]
    if encrypted:
        tls = {"mode": "Terminate", "certificateRefs": [{"name": "certificate"}]}
        listeners.append({"name": "https", "port": 443, "protocol": "HTTPS", "tls": tls})
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"gatewayClassName": CLASSES[name], "listeners": listeners},
    }


def address(laptop: Laptop, name: str) -> str:
    made = objects.one(laptop, "gateway.gateway.networking.k8s.io", name, NAMESPACE) or {}
    return next((entry["value"] for entry in made.get("status", {}).get("addresses", [])), "")


@pytest.fixture(scope="module")
def suite(bare: Laptop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Suite]:
    made = Served(bare, NAMESPACE, replicas=1, simulator="--inter-token-latency 20ms")
    made.parts |= {f"{one['kind']}/{objects.name(one)}": one for one in edge()}
    made.start()
    addresses = {name: until(lambda name=name: address(bare, name), f"the address of {name}") for name in CLASSES}
    file = tmp_path_factory.mktemp("authority") / "authority.pem"
    made.put(authority_and_secret(file, NAMESPACE, list(addresses.values())))
    made.put(*(gateway(name, encrypted=True) for name in CLASSES))
    endpoints: dict[str, Endpoint] = {}
    for (name, where), kind in zip(addresses.items(), ("internal", "external"), strict=True):
        assert name in CLASSES
        endpoints[f"{kind}, HTTP"] = Endpoint(f"{kind}, HTTP", f"http://{where}{MODEL.path}/v1", NAMES[0])
        endpoints[f"{kind}, HTTPS"] = Endpoint(f"{kind}, HTTPS", f"https://{where}{MODEL.path}/v1", NAMES[0], file)
    for endpoint in endpoints.values():
        until(lambda endpoint=endpoint: answers(bare, endpoint), f"an answer of {endpoint.base}")
    yield Suite(made, endpoints)
    made.remove()


def answers(laptop: Laptop, endpoint: Endpoint) -> bool:
    """Whether a chat is answered."""
    done = curl(laptop, endpoint, "/chat/completions", body=chat("hello", model=endpoint.model)["body"])
    return done.status == 200


every = pytest.mark.parametrize(("client", "gateway"), [(one, other) for other in GATEWAYS for one in CLIENTS])


@every
def test_a_chat_and_a_completion_come_back_whole(suite: Suite, client: str, gateway: str) -> None:
    seen = suite.case(client, gateway, "chat")
    assert (seen["text"], seen["end"], seen["model"]) == (SHORT, "stop", NAMES[0])
    assert seen["tokens"] > 0
    completed = suite.case(client, gateway, "completion")
    assert (completed["text"], completed["end"]) == (SHORT, "stop")


@every
def test_a_stream_comes_in_pieces_with_its_usage_at_the_end(suite: Suite, client: str, gateway: str) -> None:
    seen = suite.case(client, gateway, "stream")
    assert seen["text"] == SHORT
    assert seen["pieces"] == seen["tokens"] > 1
    completed = suite.case(client, gateway, "completion stream")
    assert completed["text"] == SHORT
    assert completed["pieces"] > 1


@every
def test_the_list_of_models_has_both_names(suite: Suite, client: str, gateway: str) -> None:
    assert suite.case(client, gateway, "models") == {"names": list(NAMES)}


@every
def test_the_load_balancers_own_404_is_an_error_without_a_message(suite: Suite, client: str, gateway: str) -> None:
    # Plain text, as GKE's (docs/laptop-gateway.md): clients have a kind of error for it, and no `error.message`.
    seen = suite.case(client, gateway, "wrong path")
    assert (seen["error"], seen["status"], seen["message"]) == ("NotFoundError", 404, None), seen


@every
def test_a_key_is_neither_needed_nor_looked_at_at_the_path_of_a_model(suite: Suite, client: str, gateway: str) -> None:
    assert suite.case(client, gateway, "wrong key") == {}


@every
def test_a_failing_server_is_asked_again_by_the_client_and_not_by_the_load_balancer(
    suite: Suite, client: str, gateway: str
) -> None:
    seen = suite.case(client, gateway, "retries")
    assert (seen["error"], seen["status"], seen["attempts"]) == ("InternalServerError", 500, ["0", "1", "2"]), seen
    healed = suite.case(client, gateway, "retries until it answers")
    assert healed == {"text": SHORT, "attempts": ["0", "1"]}
    failed = [entry for entry in logged(suite.served.laptop, f"{NAMESPACE}_") if entry["status"] == 500]
    assert failed
    assert {entry["attempts"] for entry in failed} == {1}


@pytest.mark.parametrize("gateway", GATEWAYS)
@pytest.mark.parametrize("path", ["/nobody/knows", "/load_lora_adapter", "/../../metrics"])
def test_a_path_of_nobody_gets_the_load_balancers_answer(suite: Suite, gateway: str, path: str) -> None:
    laptop, endpoint = suite.served.laptop, suite.endpoints[gateway]
    asked = curl(laptop, endpoint, path, "--path-as-is")
    assert (asked.status, asked.text) == (404, "fault filter abort"), asked
    # Not over HTTP/2: curl 7.88 loses a third of the answers that any Envoy gives before the body of a request has
    # come (error 92). Node's own client loses none of them.
    sent = curl(laptop, endpoint, path, "--path-as-is", "--http1.1", body={"model": NAMES[0]})
    assert (sent.status, sent.text) == (404, "fault filter abort"), sent
