from __future__ import annotations

import json
from collections.abc import Callable

import pulumi
import pytest
from pulumi.runtime.mocks import MockResourceArgs

from llmd_common.pulumi_signatures import UNKNOWN, is_secret
from llmd_gke.graph.monitor import ADDRESS, Invented
from llmd_gke.graph.resources import Graph
from llmd_gke.manifests import client_request
from llmd_gke.settings import StackSettings
from tests.components import kinds
from tests.components.kinds import metadata
from tests.components.variants import variant

TOKEN = "hf_a_token_of_tests"


FIGURES = {"dev": (1, 1 * 1.215 + 0.10), "gpu": (1, 0.2231 + 8 * 0.01468 + 0.10), "prod": (3, 3 * 2.70 + 0.10)}
"""Chips and USD per hour by stack, worked out by hand from the price list; the others are three hosts of four chips."""


def test_outputs_are_there_and_right(graph: Graph, settings: StackSettings, preview: bool, stack: str) -> None:
    address = UNKNOWN if preview else ADDRESS
    outputs = graph.outputs
    scheme, domain = settings.gateway.scheme, settings.gateway.domain
    chips, price = FIGURES.get(stack, (12, 12 * 2.97 + 0.10))
    always = {"gatewayIp", "models", "curl", "cluster", "chips", "hourlyPriceUsd", "kubeconfig"}
    assert set(outputs) == (always | {"dashboardUrl"} if settings.monitoring.dashboard else always)
    assert outputs["gatewayIp"] == address
    assert outputs["models"] == {
        model.name: {
            "url": UNKNOWN if preview and not domain else f"{scheme}://{domain or ADDRESS}{model.path}",
            "servedModelName": model.served_name,
            "namespace": model.namespace,
        }
        for model in settings.models
    }
    assert outputs["curl"] == (
        UNKNOWN
        if preview and not domain
        else "\n".join(
            client_request.curl(f"{scheme}://{domain or ADDRESS}{model.path}", model.served_name)
            for model in settings.models
        )
    )
    assert outputs["cluster"] == {
        "name": settings.cluster.name,
        "location": settings.cluster.location,
        "project": settings.project,
    }
    assert outputs["chips"] == settings.totals.chips == chips
    assert outputs["hourlyPriceUsd"] == settings.totals.usd_per_hour == pytest.approx(price, abs=0.005)


def test_urls_are_known_as_soon_as_the_address_is(
    record: Callable[..., Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    invent = Invented.new_resource

    def only_the_address(self: Invented, args: MockResourceArgs) -> tuple[str | None, dict[str, object]]:
        return invent(Invented(preview=False) if args.typ == kinds.ADDRESS else self, args)

    monkeypatch.setattr(Invented, "new_resource", only_the_address)
    outputs = record(preview=True).outputs
    assert outputs["gatewayIp"] == ADDRESS
    url = f"http://{ADDRESS}/models/qwen"
    assert outputs["models"] == {"qwen": {"url": url, "servedModelName": "qwen", "namespace": "models"}}
    assert outputs["curl"] == client_request.curl(url, "qwen")
    assert UNKNOWN in str(outputs["kubeconfig"])


def test_the_kubeconfig_is_a_secret_output_and_a_secret_of_the_provider(graph: Graph) -> None:
    assert is_secret(graph.outputs["kubeconfig"])
    assert is_secret(graph.find(kinds.KUBERNETES_PROVIDER).inputs["kubeconfig"])


@pytest.mark.parametrize("name", ["storage", "edge", "gke"], ids=["dns", "ip", "private"])
def test_the_kubeconfig_holds_no_token(name: str) -> None:
    output = variant(name).outputs["kubeconfig"]
    assert isinstance(output, dict)
    config = json.loads(output["value"])
    (user,) = config["users"]
    assert set(user["user"]) == {"exec"}
    assert user["user"]["exec"]["command"] == "gke-gcloud-auth-plugin"
    assert "token" not in json.dumps(config).lower()


def test_an_ungated_model_has_no_token_secret(graph: Graph) -> None:
    assert kinds.without_scraping(kinds.SECRET)(graph) == []


@pytest.mark.parametrize("in_preview", [True, False])
def test_the_token_of_a_gated_model_is_in_its_secret_and_nowhere_else(in_preview: bool) -> None:
    graph = variant("storage", preview=in_preview)
    secret = graph.find(kinds.SECRET, "models-hugging-face-token")
    assert metadata(secret, "namespace") == "models"
    marked = secret.inputs["stringData"]
    assert is_secret(marked), "in plain text in the state, otherwise"
    assert isinstance(marked, dict)
    assert marked["value"] == {"HF_TOKEN": TOKEN}
    elsewhere = [node.name for node in graph.nodes.values() if node.urn != secret.urn and TOKEN in str(node)]
    assert elsewhere == []
    assert TOKEN not in str(graph.outputs)


def test_a_gated_model_finds_its_token_by_annotation() -> None:
    graph = variant("storage")
    secret = graph.find(kinds.SECRET, "models-hugging-face-token")
    service = graph.find(kinds.SERVICE, "gated-service")
    annotations = metadata(service, "annotations")
    assert isinstance(annotations, dict)
    assert annotations["serving.kserve.io/secretName"] == metadata(secret, "name")
    assert graph.comes_before(secret, service)


def test_a_gated_model_without_a_token_is_refused_with_the_command_that_helps(record: Callable[..., Graph]) -> None:
    changes = gated()
    del changes["llmd-gke:hfToken"]
    with pytest.raises(pulumi.RunError, match="pulumi config set --secret llmd-gke:hfToken"):
        record(changes)


def test_a_stack_for_the_stand_ins_is_refused_by_the_program_outside_of_them(
    record: Callable[..., Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LLMD_GKE_CLOUD")
    with pytest.raises(pulumi.RunError, match="must not be used with Google Cloud"):
        record(stack="local")


def gated() -> dict[str, object]:
    model = {"name": "llama", "uri": "hf://meta-llama/Llama-3.1-8B-Instruct", "pool": "v6e4", "replicas": 3}
    return {"llmd-gke:models": [model], "llmd-gke:hfToken": TOKEN}


def test_a_secret_that_is_not_encrypted_is_refused_by_the_program_itself(record: Callable[..., Graph]) -> None:
    with pytest.raises(pulumi.RunError, match=r"(?s)hfToken.*plain text.*pulumi config set --secret") as caught:
        record(gated(), plain=("llmd-gke:hfToken",))
    assert TOKEN not in str(caught.value)
