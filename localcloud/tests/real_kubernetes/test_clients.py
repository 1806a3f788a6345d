"""Published clients through both Gateways that the program makes, over TLS.

The route is the program's own, for a model at its path; servers, picker and pool are made by hand.
``test_real_server.py`` asks them more, of vLLM itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
from localcloud.tests.real_kubernetes.serving import NAMES, Served, chat, program_route

NAMESPACE = "clients"
CLASSES = {"gateway": REGIONAL_INTERNAL, "external": REGIONAL_EXTERNAL}
MODEL = ModelSettings.model_validate({"name": "qwen", "namespace": NAMESPACE, "uri": "hf://a/b", "pool": "v6e4"})


@dataclass(frozen=True)
class Suite:
    """The cluster, and the endpoint at each Gateway."""

    laptop: Laptop
    endpoints: Mapping[str, Endpoint]


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
    edge = [*(gateway(name) for name in CLASSES), program_route(MODEL, *CLASSES)]
    made.parts |= {f"{one['kind']}/{objects.name(one)}": one for one in edge}
    made.start()
    addresses = {name: until(lambda name=name: address(bare, name), f"the address of {name}") for name in CLASSES}
    file = tmp_path_factory.mktemp("authority") / "authority.pem"
    made.put(authority_and_secret(file, NAMESPACE, list(addresses.values())))
    made.put(*(gateway(name, encrypted=True) for name in CLASSES))
    endpoints = {name: Endpoint(name, f"https://{addresses[name]}{MODEL.path}/v1", NAMES[0], file) for name in CLASSES}
    body = chat("hello", model=NAMES[0])["body"]
    for name, endpoint in endpoints.items():
        until(lambda one=endpoint: curl(bare, one, "/chat/completions", body=body).status == 200, f"answers of {name}")
    yield Suite(bare, endpoints)
    made.remove()


@pytest.mark.parametrize("gateway", CLASSES)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_published_client_is_served_whole_over_tls(suite: Suite, client: str, gateway: str) -> None:
    cases = ("chat", "stream", "models", "wrong path", "wrong key")
    seen = asking.ask(suite.laptop, client, suite.endpoints[gateway], cases)
    assert (seen["chat"]["text"], seen["chat"]["end"], seen["chat"]["model"]) == (SHORT, "stop", NAMES[0])
    assert (seen["stream"]["text"], seen["stream"]["pieces"] > 1) == (SHORT, True)
    assert seen["models"] == {"names": list(NAMES)}
    # Plain text, as GKE's (docs/laptop-gateway.md): clients have a kind of error for it, and no `error.message`.
    wrong = seen["wrong path"]
    assert (wrong["error"], wrong["status"], wrong["message"]) == ("NotFoundError", 404, None), wrong
    assert seen["wrong key"] == {}, "a key is neither needed nor looked at"


@pytest.mark.parametrize("gateway", CLASSES)
@pytest.mark.parametrize("path", ["/nobody/knows", "/load_lora_adapter", "/../../metrics"])
def test_a_path_of_nobody_gets_the_load_balancers_answer(suite: Suite, gateway: str, path: str) -> None:
    laptop, endpoint = suite.laptop, suite.endpoints[gateway]
    asked = curl(laptop, endpoint, path, "--path-as-is")
    assert (asked.status, asked.text) == (404, "fault filter abort"), asked
    # Not over HTTP/2: curl 7.88 loses a third of the answers that any Envoy gives before the body of a request has
    # come (error 92). Node's own client loses none of them.
    sent = curl(laptop, endpoint, path, "--path-as-is", "--http1.1", body={"model": NAMES[0]})
    assert (sent.status, sent.text) == (404, "fault filter abort"), sent
