"""What the stand-in for Kubernetes keeps secret, and how it fails. ``real_kubernetes/test_providers_agree.py``
compares its steps with the real provider's, and ``real_engine`` runs whole programs on it.
"""

from __future__ import annotations

from typing import Any

import pytest

from localcloud.tests.providers.conftest import Result, Standin, write_google

NAMESPACE = "kubernetes:core/v1:Namespace"
ROUTE = "kubernetes:gateway.networking.k8s.io/v1:HTTPRoute"
SECRET = "kubernetes:core/v1:Secret"
SERVICE = "kubernetes:serving.kserve.io/v1alpha2:LLMInferenceService"
Props = dict[str, Any]


WAITS = {"annotations": {"pulumi.com/waitFor": "condition=Ready"}}


def manifest(token: str, **rest: Any) -> Props:
    _, version, kind = token.split(":")
    metadata = {"name": "it", "namespace": "models"} | rest.pop("metadata", {})
    return {"apiVersion": version.removeprefix("core/"), "kind": kind, "metadata": metadata, **rest}


def test_a_kind_that_never_gets_ready_ends_with_its_timeout_and_stays(kubernetes: Standin, namespace: Result):
    kubernetes.faults(enabledApis=["*"], neverReady=["LLMInferenceService"])
    with pytest.raises(
        Exception, match=r"successfully created, but .* failed to fully initialize or become live: timed out"
    ):
        kubernetes.create(SERVICE, manifest(SERVICE, metadata=WAITS, spec={}), timeout=0.2)
    assert kubernetes.read(SERVICE, "models/it") is not None


TPU_SPEC = {
    "replicas": 2,
    "template": {"containers": [{"name": "main", "resources": {"limits": {"google.com/tpu": "4"}}}]},
}


TPU_POOL = {
    "nodeLocations": ["europe-west4-a"],
    "autoscaling": {"minNodeCount": 0, "maxNodeCount": 4},
    "nodeConfig": {"machineType": "ct6e-standard-4t", "diskType": "hyperdisk-balanced"},
}


def test_hosts_that_a_service_has_are_its_own_in_a_stock_out(kubernetes: Standin, namespace: Result):
    write_google(kubernetes.folder, tpu=TPU_POOL)
    asked = manifest(SERVICE, metadata=WAITS, spec=TPU_SPEC)
    made = kubernetes.create(SERVICE, asked)
    kubernetes.faults(enabledApis=["*"], stockout=["europe-west4-a"])
    kubernetes.update(SERVICE, made, asked | {"spec": TPU_SPEC | {"model": "other"}}, timeout=0.2)
    with pytest.raises(Exception, match="GCE_STOCKOUT"):
        kubernetes.update(SERVICE, made, asked | {"spec": TPU_SPEC | {"replicas": 3}}, timeout=0.2)


def test_the_gateway_api_is_there_when_the_cluster_has_its_channel(kubernetes: Standin, namespace: Result):
    write_google(kubernetes.folder, cluster={})
    with pytest.raises(Exception, match=r'no matches for kind "HTTPRoute" in version "gateway.networking.k8s.io/v1"'):
        kubernetes.create(ROUTE, manifest(ROUTE))


def test_the_contents_of_a_secret_are_secret_and_in_no_file(kubernetes: Standin, namespace: Result):
    made = kubernetes.create(
        SECRET, manifest(SECRET, stringData={"HF_TOKEN": "hf_verysecret"}), secrets=[("stringData", "HF_TOKEN")]
    )
    assert ("data",) in made.secrets
    assert made.outputs["data"]["HF_TOKEN"] == "aGZfdmVyeXNlY3JldA=="
    for file in kubernetes.folder.iterdir():
        assert "hf_verysecret" not in file.read_text()
        assert "aGZfdmVyeXNlY3JldA" not in file.read_text()
    current = kubernetes.read(SECRET, made.id, made.inputs)
    assert current is not None
    assert current[0].values["stringData"] == {"HF_TOKEN": "hf_verysecret"}, "what the engine knows fits the digest"
    assert ("stringData",) in current[0].secrets


def test_a_cluster_that_google_does_not_have_is_unreachable(kubernetes: Standin, namespace: Result):
    write_google(kubernetes.folder, cluster=None)
    with pytest.raises(Exception, match="failed to read resource state due to unreachable cluster"):
        kubernetes.read(NAMESPACE, namespace.id)
    with pytest.raises(Exception, match="PULUMI_K8S_DELETE_UNREACHABLE"):
        kubernetes.delete(NAMESPACE, namespace)
