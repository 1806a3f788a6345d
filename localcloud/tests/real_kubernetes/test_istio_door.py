"""The front door behind Istio's Gateway, first over HTTP, then over HTTPS with both kinds of certificates.

Skipped where the programs are not built, also with ``make test CLOUD=laptop``: ``.ci/full istio`` builds them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from cryptography import x509

from llmd_gke.settings.secret_keys import STAND_IN_SECRET, stand_in_key
from localcloud import binaries
from localcloud.cluster import front_door as door
from localcloud.cluster.lifecycle import ISTIO_PROGRAMS
from localcloud.gke_gateway import certificates
from localcloud.tests.real_kubernetes import front_door, objects
from localcloud.tests.real_kubernetes.clients import asking
from localcloud.tests.real_kubernetes.clients.asking import CLIENTS, SHORT, Endpoint
from localcloud.tests.real_kubernetes.harness import Laptop, brought_up, until
from localcloud.tests.real_kubernetes.objects import Object
from localcloud.tests.real_kubernetes.programs import need, skip_unless_built
from localcloud.tests.real_kubernetes.test_istio import HELLO, NAME, STACK, edited, negotiated, outputs

CALLERS = [{"name": "team-a"}, {"name": "counted", "requestsPerMinute": 2}]
TEAM_A, COUNTED = (stand_in_key(str(one["name"])) for one in CALLERS)
EDGE: Object = {"class": "istio", "exposure": "external"}
DOMAIN = "llm.example.com"
AUTHORITY, AUTHORITY_KEY = (one.decode() for one in certificates.make(x509.DNSName(DOMAIN)))
"""A certificate of the listener's name, which clients can also take as the authority of others."""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    need(binaries.names())
    skip_unless_built((*ISTIO_PROGRAMS, *door.PROGRAMS))

    def settings(config: Object) -> None:
        config["llmd-gke:gateway"] = {**EDGE, "allowPlainHttp": True}
        config["llmd-gke:frontDoor"] = {"callers": CALLERS}
        config["llmd-gke:callerKeys"] = STAND_IN_SECRET

    with brought_up(tmp_path_factory.mktemp("istio-door"), STACK, settings) as made:
        yield made


def answered(stack: Laptop, path: str, key: str = "", body: object = None) -> str:
    """Protocol and status of an answer, as curl tells them, which checks the certificate of HTTPS."""
    base, address = str(outputs(stack)["baseUrl"]).removesuffix("/v1"), outputs(stack)["gatewayIp"]
    authority = stack.folder / "authority.pem"
    authority.write_text(AUTHORITY)
    command = ["curl", "-sS", "--http2", "--cacert", str(authority), "-o", "/dev/null"]
    command += ["-w", "%{http_version} %{http_code}", "--resolve", f"{DOMAIN}:443:{address}"]
    command += ["-H", f"Authorization: Bearer {key}"] if key else []
    command += ["--json", json.dumps(body)] if body is not None else []
    # An answer before the end of a body may reach curl 7.88 as a stream error.
    return stack.inside(*command, base + path, check=False).stdout


def test_the_door_asks_for_keys_and_counts(stack: Laptop) -> None:
    hello = ("/v1/chat/completions", HELLO["body"])
    assert answered(stack, hello[0], TEAM_A, hello[1]) == "1.1 200"
    assert [answered(stack, "/v1/models", key) for key in ("", "wrong")] == ["1.1 401", "1.1 401"]
    until(lambda: answered(stack, hello[0], COUNTED, hello[1]) == "1.1 429", "the end of a caller's requests")
    assert answered(stack, hello[0], TEAM_A, hello[1]) == "1.1 200"
    until(lambda: front_door.usage_in_metrics(stack, "team-a") > 0, "the caller's tokens")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_published_client_is_served_and_reads_the_doors_errors(stack: Laptop, client: str) -> None:
    endpoint = Endpoint("front door", str(outputs(stack)["baseUrl"]), NAME, key=TEAM_A)
    seen = asking.ask(stack, client, endpoint, ("chat", "stream", "models", "wrong key", "unknown model"))
    assert (seen["chat"]["text"], seen["stream"]["text"]) == (SHORT, SHORT)
    assert seen["models"] == {"names": [NAME, f"publishers/{objects.MODELS}/models/{NAME}"]}
    assert (seen["wrong key"]["error"], seen["wrong key"]["status"]) == ("AuthenticationError", 401)
    assert (seen["unknown model"]["error"], seen["unknown model"]["status"]) == ("NotFoundError", 404)


def test_a_listener_speaks_h2_with_a_certificate_of_a_secret_and_with_cert_managers(stack: Laptop) -> None:
    for key, pem in (("tlsCertificate", AUTHORITY), ("tlsKey", AUTHORITY_KEY)):
        stack.pulumi("config", "set", "--secret", "--stack", STACK, f"llmd-gke:{key}", "--", pem)
    secret = {"tls.crt": AUTHORITY, "tls.key": AUTHORITY_KEY}
    metadata = {"name": "laptop", "namespace": "cert-manager"}
    issuer = {"apiVersion": "cert-manager.io/v1", "kind": "ClusterIssuer", "metadata": {"name": "laptop"}}
    stack.apply(
        {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": secret},
        {**issuer, "spec": {"ca": {"secretName": "laptop"}}},
    )
    for tls in ({"fromConfig": True}, {"issuer": "laptop"}):
        edited(stack, gateway={**EDGE, "domain": DOMAIN, "tls": tls})
        assert negotiated(stack, outputs(stack)["gatewayIp"], 443, DOMAIN, AUTHORITY) == "h2"
        assert answered(stack, "/v1/models", TEAM_A) == "2 200"
        assert answered(stack, "/v1/models") == "2 401"
