"""Kubernetes: an echo with an API server's manners."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from llmd_common.pulumi_signatures import UNKNOWN
from localcloud.providers.protocol.values import encode

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Result, Standin

NAMESPACE = "kubernetes:core/v1:Namespace"
SECRET = "kubernetes:core/v1:Secret"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
ROUTE = "kubernetes:gateway.networking.k8s.io/v1:HTTPRoute"
CLASS_PATCH = "kubernetes:gateway.networking.k8s.io/v1:GatewayClassPatch"
SERVICE = "kubernetes:serving.kserve.io/v1alpha2:LLMInferenceService"
POOL = "gcp:container/nodePool:NodePool"
Props = dict[str, Any]


def manifest(token: str, *, name: str | None = "it", namespace: str | None = "models", **rest: Any) -> Props:
    _, version, kind = token.split(":")
    metadata = {key: value for key, value in (("name", name), ("namespace", namespace)) if value}
    return {
        "apiVersion": version.removeprefix("core/"),
        "kind": kind,
        "metadata": metadata | rest.pop("metadata", {}),
        **rest,
    }


def waiting(value: str) -> Props:
    return {"annotations": {"pulumi.com/waitFor": value}}


def test_an_object_comes_back_with_what_the_server_adds(kubernetes: Standin, namespace: Result):
    made = kubernetes.create(ROUTE, manifest(ROUTE, spec={"hostnames": ["a"]}))
    assert made.id == "models/it"
    assert made.outputs["spec"] == {"hostnames": ["a"]}
    assert made.outputs["metadata"]["generation"] == 1
    assert made.outputs["metadata"]["uid"]


def test_a_preview_returns_the_inputs(kubernetes: Standin, cluster: Result):
    asked = manifest(ROUTE, spec={"hostnames": [UNKNOWN]})
    assert kubernetes.create(ROUTE, asked, preview=True).outputs == asked


def test_a_namespace_must_exist_before_what_is_in_it(kubernetes: Standin):
    with pytest.raises(Exception, match='namespaces "models" not found'):
        kubernetes.create(ROUTE, manifest(ROUTE))


def test_what_exists_is_not_adopted(kubernetes: Standin, namespace: Result):
    kubernetes.create(ROUTE, manifest(ROUTE))
    with pytest.raises(Exception, match=r'httproutes\.gateway\.networking\.k8s\.io "it" already exists'):
        kubernetes.create(ROUTE, manifest(ROUTE))


def test_the_same_name_is_free_in_another_namespace(kubernetes: Standin, namespace: Result):
    kubernetes.create(NAMESPACE, manifest(NAMESPACE, name="other", namespace=None))
    first = kubernetes.create(ROUTE, manifest(ROUTE))
    other = kubernetes.create(ROUTE, manifest(ROUTE, namespace="other"))
    assert first.id != other.id


def test_a_namespace_takes_its_objects_along(kubernetes: Standin, namespace: Result):
    route = kubernetes.create(ROUTE, manifest(ROUTE))
    kubernetes.delete(NAMESPACE, namespace)
    assert kubernetes.read(ROUTE, route.id) is None
    kubernetes.delete(ROUTE, route)  # what is gone is gone


def test_an_object_without_a_name_gets_one_and_says_so(kubernetes: Standin):
    checked = kubernetes.check(ROUTE, manifest(ROUTE, name=None), name="route").values
    assert str(checked["metadata"]["name"]).startswith("route-")
    assert checked["metadata"]["annotations"] == {"pulumi.com/autonamed": "true"}
    again = kubernetes.check(ROUTE, manifest(ROUTE, name=None), name="route", old=checked).values
    assert again == checked


@pytest.mark.parametrize(
    ("token", "old", "new", "replaces", "delete_first"),
    [
        (ROUTE, {"spec": {"a": 1}}, {"spec": {"a": 2}}, False, False),
        (ROUTE, {}, {"name": "other"}, True, False),
        (ROUTE, {}, {"namespace": "default"}, True, False),
        (SECRET, {"stringData": {"a": "b"}}, {"stringData": {"a": "c"}}, True, True),
        (CONFIG_MAP, {"data": {"a": "b"}}, {"data": {"a": "c"}}, True, True),
        (CLASS_PATCH, {}, {"metadata": {"labels": {"a": "b"}}}, False, False),
    ],
)
def test_what_replaces_an_object_and_in_which_order(
    kubernetes: Standin, namespace: Result, token: str, old: Props, new: Props, *, replaces: bool, delete_first: bool
):
    made = kubernetes.create(token, manifest(token, **old))
    answer = kubernetes.diff(token, made, manifest(token, **new))
    assert (bool(answer.replaces), answer.deleteBeforeReplace) == (replaces, delete_first)


@pytest.mark.parametrize(
    ("token", "immutable", "replaces"), [(SECRET, False, False), (SECRET, True, True), (CONFIG_MAP, False, True)]
)
def test_a_provider_may_be_told_to_update_secrets_that_are_not_immutable(
    kubernetes: Standin, cluster: Result, namespace: Result, token: str, immutable: bool, *, replaces: bool
):
    kubernetes.configure(kubeconfig=kubeconfig_of(cluster), enableSecretMutable="true")
    made = kubernetes.create(token, manifest(token, data={"a": "Yg=="}, immutable=immutable))
    answer = kubernetes.diff(token, made, manifest(token, data={"a": "Yw=="}, immutable=immutable))
    assert list(answer.diffs) == ["data"]
    assert bool(answer.replaces) is replaces


def test_the_generation_counts_changes_of_the_spec(kubernetes: Standin, namespace: Result):
    made = kubernetes.create(ROUTE, manifest(ROUTE, spec={"a": 1}))
    outputs = kubernetes.update(ROUTE, made, manifest(ROUTE, spec={"a": 2}))
    assert outputs["metadata"]["generation"] == 2
    assert outputs["metadata"]["uid"] == made.outputs["metadata"]["uid"]


def test_a_wait_is_answered_at_once_with_its_condition(kubernetes: Standin, namespace: Result):
    made = kubernetes.create(
        SERVICE, manifest(SERVICE, metadata=waiting('["condition=Ready", "jsonpath={.status.url}"]'), spec={})
    )
    assert made.outputs["status"]["conditions"] == [{"type": "Ready", "status": "True", "reason": "Rehearsed"}]


@pytest.mark.parametrize("value", ["Ready", "jsonpath=.status.x", "[]", '["condition=Ready", "Ready"]'])
def test_a_wait_that_the_provider_cannot_read_is_refused(kubernetes: Standin, namespace: Result, value: str):
    with pytest.raises(Exception, match="condition"):
        kubernetes.create(SERVICE, manifest(SERVICE, metadata=waiting(value), spec={}))


def test_a_kind_that_never_gets_ready_ends_with_its_timeout_and_stays(kubernetes: Standin, namespace: Result):
    kubernetes.faults(enabledApis=["*"], neverReady=["LLMInferenceService"])
    with pytest.raises(
        Exception, match=r"successfully created, but .* failed to fully initialize or become live: timed out"
    ):
        kubernetes.create(SERVICE, manifest(SERVICE, metadata=waiting("condition=Ready"), spec={}), timeout=0.2)
    assert kubernetes.read(SERVICE, "models/it") is not None


def test_a_service_that_does_not_wait_is_made_in_any_case(kubernetes: Standin, namespace: Result):
    kubernetes.faults(enabledApis=["*"], neverReady=["LLMInferenceService"])
    assert kubernetes.create(SERVICE, manifest(SERVICE, spec={}), timeout=0.2).id


TPU_SPEC = {
    "replicas": 2,
    "template": {"containers": [{"name": "main", "resources": {"limits": {"google.com/tpu": "4"}}}]},
}


def tpu_pool(google: Standin, nodes: int = 0) -> None:
    node = {"machineType": "ct6e-standard-4t", "diskType": "hyperdisk-balanced"}
    google.create(
        POOL,
        {
            "name": "tpu",
            "cluster": "gke",
            "location": "europe-west4",
            "nodeLocations": ["europe-west4-a"],
            "initialNodeCount": nodes,
            "autoscaling": {"minNodeCount": 0, "maxNodeCount": 4},
            "nodeConfig": node,
        },
    )


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ({"stockout": ["europe-west4-a"]}, "FailedScaleUp.*GCE_STOCKOUT"),
        ({"quota": {"CT6E": 4}}, "FailedScaleUp.*TPUS_PER_TPU_FAMILY"),
    ],
)
def test_a_service_on_an_empty_pool_waits_in_vain_while_there_are_no_tpus(
    google: Standin, kubernetes: Standin, namespace: Result, fault: Props, cause: str
):
    tpu_pool(google)
    kubernetes.faults(enabledApis=["*"], **fault)
    with pytest.raises(Exception, match=cause):
        kubernetes.create(SERVICE, manifest(SERVICE, metadata=waiting("condition=Ready"), spec=TPU_SPEC), timeout=0.2)


def test_hosts_that_a_service_has_are_its_own_in_a_stock_out(google: Standin, kubernetes: Standin, namespace: Result):
    tpu_pool(google)
    asked = manifest(SERVICE, metadata=waiting("condition=Ready"), spec=TPU_SPEC)
    made = kubernetes.create(SERVICE, asked)
    kubernetes.faults(enabledApis=["*"], stockout=["europe-west4-a"])
    kubernetes.update(SERVICE, made, asked | {"spec": TPU_SPEC | {"model": "other"}}, timeout=0.2)
    with pytest.raises(Exception, match="GCE_STOCKOUT"):
        kubernetes.update(SERVICE, made, asked | {"spec": TPU_SPEC | {"replicas": 3}}, timeout=0.2)


def test_a_service_without_any_tpu_pool_waits_in_vain(kubernetes: Standin, namespace: Result):
    with pytest.raises(Exception, match="no TPU node pool"):
        kubernetes.create(SERVICE, manifest(SERVICE, metadata=waiting("condition=Ready"), spec=TPU_SPEC), timeout=0.2)


def test_the_gateway_api_is_there_when_the_cluster_has_its_channel(
    google: Standin, kubernetes: Standin, namespace: Result, cluster: Result
):
    without = {key: value for key, value in cluster.inputs.items() if key not in ("__defaults", "gatewayApiConfig")}
    google.update("gcp:container/cluster:Cluster", cluster, without)
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


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({}, "no kubeconfig"),
        ({"kubeconfig": "{"}, "failed to parse kubeconfig data"),
        ({"kubeconfig": '{"current-context": "x"}'}, 'context "x" does not exist'),
    ],
)
def test_a_kubeconfig_without_a_cluster_is_refused(kubernetes: Standin, config: Props, reason: str):
    kubernetes.configure(**config)
    with pytest.raises(Exception, match=f"cluster is unreachable: {reason}"):
        kubernetes.create(NAMESPACE, manifest(NAMESPACE, namespace=None))


def test_a_kubeconfig_without_credentials_is_refused(kubernetes: Standin, cluster: Result):
    content = json.loads(kubeconfig_of(cluster))
    content["users"][0]["user"] = {}
    kubernetes.configure(kubeconfig=json.dumps(content))
    with pytest.raises(Exception, match="provide credentials"):
        kubernetes.create(NAMESPACE, manifest(NAMESPACE, namespace=None))


def kubeconfig_of(cluster: Result, host: str = "") -> str:
    server = f"https://{host or cluster.outputs['endpoint']}"
    return json.dumps(
        {
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
            "users": [{"name": "u", "user": {"exec": {"command": "gke-gcloud-auth-plugin"}}}],
        }
    )


def test_a_cluster_that_google_does_not_have_is_unreachable(
    google: Standin, kubernetes: Standin, namespace: Result, cluster: Result
):
    google.delete("gcp:container/cluster:Cluster", cluster)
    with pytest.raises(Exception, match="failed to read resource state due to unreachable cluster"):
        kubernetes.read(NAMESPACE, namespace.id)
    with pytest.raises(Exception, match="PULUMI_K8S_DELETE_UNREACHABLE"):
        kubernetes.delete(NAMESPACE, namespace)


def test_the_dns_endpoint_reaches_the_same_cluster(kubernetes: Standin, namespace: Result, cluster: Result):
    dns = cluster.outputs["controlPlaneEndpointsConfig"]["dnsEndpointConfig"]["endpoint"]
    kubernetes.configure(kubeconfig=kubeconfig_of(cluster, dns))
    with pytest.raises(Exception, match='namespaces "models" already exists'):
        kubernetes.create(NAMESPACE, manifest(NAMESPACE, name="models", namespace=None))


@pytest.mark.parametrize(
    ("old", "new", "replaces"),
    [
        ({"kubeconfig": "1"}, {"kubeconfig": UNKNOWN}, True),
        ({"kubeconfig": "1", "clusterIdentifier": "a"}, {"kubeconfig": UNKNOWN, "clusterIdentifier": "a"}, False),
        ({"kubeconfig": "1", "clusterIdentifier": "a"}, {"kubeconfig": "1", "clusterIdentifier": "b"}, True),
        ({"kubeconfig": "1"}, {"kubeconfig": "2"}, True),
        ({"kubeconfig": "1"}, {"kubeconfig": "1", "clusterIdentifier": "a"}, False),
        ({"kubeconfig": "1", "namespace": "a"}, {"kubeconfig": "1", "namespace": "b"}, False),
    ],
)
def test_another_cluster_replaces_the_provider_unless_it_is_identified(
    kubernetes: Standin, cluster: Result, old: Props, new: Props, replaces: bool
):
    from localcloud.providers.protocol.protos import provider_pb2

    files = {name: kubeconfig_of(cluster, f"{name}.example") for name in ("1", "2")}
    bags = [encode({k: files.get(v, v) for k, v in settings.items()}) for settings in (old, new)]
    answer = kubernetes.stub.DiffConfig(
        provider_pb2.DiffRequest(
            urn="urn:pulumi:t::p::pulumi:providers:kubernetes::k", old_inputs=bags[0], news=bags[1]
        )
    )
    assert answer.changes == provider_pb2.DiffResponse.DIFF_SOME
    assert bool(answer.replaces) is replaces


def test_a_patched_namespace_is_made_where_it_is_missing_and_stays_when_the_patch_goes(kubernetes: Standin):
    patch = "kubernetes:core/v1:NamespacePatch"
    made = kubernetes.create(patch, manifest(patch, name="models", namespace=None))
    kubernetes.create(ROUTE, manifest(ROUTE))
    kubernetes.delete(patch, made)
    kubernetes.create(ROUTE, manifest(ROUTE, name="other"))
    with pytest.raises(Exception, match='"models" already exists'):
        kubernetes.create(NAMESPACE, manifest(NAMESPACE, name="models", namespace=None))


def test_a_patch_of_a_crd_names_its_group_and_kind(kubernetes: Standin, cluster: Result):
    token = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinitionPatch"
    wanted = manifest(token.removesuffix("Patch"), name="things.example.com", namespace=None)
    with pytest.raises(Exception, match=r"expected \.spec\.group"):
        kubernetes.check(token, wanted)
    wanted["spec"] = {"group": "example.com", "names": {"kind": "Thing"}}
    assert kubernetes.check(token, wanted)
