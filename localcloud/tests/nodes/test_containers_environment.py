from __future__ import annotations

from typing import Any

import pytest

from llmd_common.kubernetes import client
from llmd_common.kubernetes.cache import Mirror
from llmd_common.kubernetes.watch import Event
from localcloud.nodes import environment
from localcloud.nodes.environment import MissingObject, Sources


def mirror(resource: client.Resource, *objects: dict[str, Any]) -> Mirror:
    made = Mirror(resource)
    for obj in objects:
        made.take(Event("ADDED", obj))
    return made


def service(name: str, namespace: str, address: str, *ports: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"clusterIP": address, "ports": list(ports)}}


KUBERNETES = service("kubernetes", "default", "10.96.0.1", {"name": "https", "port": 443})
SECRET = {"metadata": {"name": "s", "namespace": "n"}, "data": {"key": ""}}


def made(container: dict[str, Any], *services: dict[str, Any], **spec: Any) -> dict[str, str]:
    pod = {
        "metadata": {"name": "p", "namespace": "n", "uid": "u", "labels": {"app": "x"}},
        "spec": {"nodeName": "node", "containers": [container], **spec},
        "status": {"podIP": "10.244.1.2", "hostIP": "10.128.0.1"},
    }
    known = Sources(
        mirror(client.SECRETS, SECRET), mirror(client.CONFIG_MAPS), mirror(client.SERVICES, KUBERNETES, *services)
    )
    return environment.environment(pod, container, known, {"PATH": "/bin"}, {"cpu": "7910m"})


def env(*entries: dict[str, Any], **container: Any) -> dict[str, str]:
    return made({"name": "main", "env": list(entries), **container})


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$(A)", "1"),
        ("$(A)$(A)-$(B)", "11-$(B)"),
        ("$$(A)", "$(A)"),
        ("$A ${A} $", "$A ${A} $"),
        ("$$$(A)", "$1"),
    ],
)
def test_references_as_kubernetes_expands_them(text: str, expanded: str) -> None:
    assert environment.expand(text, {"A": "1"}) == expanded


def test_services_of_the_namespace_are_told_unless_links_are_off() -> None:
    # A Service named `vllm` gives VLLM_PORT=tcp://…, which vLLM takes for its own setting.
    vllm = service("vllm", "n", "10.96.0.9", {"name": "http", "port": 8000})
    other = service("elsewhere", "m", "10.96.0.8", {"port": 80})
    result = made({"name": "main"}, vllm, other)
    assert result["VLLM_PORT"] == "tcp://10.96.0.9:8000"
    assert result["VLLM_SERVICE_PORT_HTTP"] == "8000"
    assert not [name for name in result if name.startswith("ELSEWHERE")]
    without = made({"name": "main"}, vllm, enableServiceLinks=False)
    assert "VLLM_PORT" not in without
    assert without["KUBERNETES_SERVICE_HOST"] == "10.96.0.1"


@pytest.mark.parametrize("reference", [{"name": "s", "key": "other"}, {"name": "absent", "key": "key"}])
def test_what_is_missing_holds_the_container_up_unless_optional(reference: dict[str, str]) -> None:
    with pytest.raises(MissingObject, match=reference["name"]):
        env({"name": "A", "valueFrom": {"secretKeyRef": reference}})
    assert "A" not in env({"name": "A", "valueFrom": {"secretKeyRef": {**reference, "optional": True}}})


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ({"resource": "limits.memory", "divisor": "1Mi"}, "1536"),
        ({"resource": "requests.cpu"}, "1"),
        ({"resource": "requests.cpu", "divisor": "1m"}, "250"),
        # No limit: what the node has, rounded up.
        ({"resource": "limits.cpu"}, "8"),
    ],
)
def test_resources_in_units_of_a_divisor(reference: dict[str, str], value: str) -> None:
    resources = {"limits": {"memory": "1.5Gi"}, "requests": {"cpu": "250m"}}
    entry = {"name": "A", "valueFrom": {"resourceFieldRef": reference}}
    assert env(entry, resources=resources)["A"] == value
