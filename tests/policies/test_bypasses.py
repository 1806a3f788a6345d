"""Ways around the rules: what is written in another place or spelling is judged all the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from tests.policies.conftest import InStack
from tests.policies.support import Resource, of, run_pack, secret

TPU_POD: dict[str, Any] = {
    "nodeSelector": {
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        "cloud.google.com/gke-tpu-topology": "2x2",
        "cloud.google.com/gke-accelerator-count": "4",
    },
    "containers": [
        {
            "name": "main",
            "image": "vllm/vllm-tpu:v0.27.0",
            "resources": {"limits": {"google.com/tpu": 4}},
        }
    ],
}
GATEWAY = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "Gateway",
    "metadata": {"name": "g", "namespace": "edge"},
    "spec": {"gatewayClassName": "gke-l7-gxlb", "listeners": [{"name": "http", "protocol": "HTTP", "port": 80}]},
}
ROUTE = {
    "apiVersion": "gateway.networking.k8s.io/v1",
    "kind": "HTTPRoute",
    "metadata": {"name": "r", "namespace": "models"},
    "spec": {"rules": [{"timeouts": {"request": "0s"}}]},
}
THING = "kubernetes:example.com/v1:Thing"


def pod(**container: object) -> dict[str, Any]:
    """A pod for TPU whose container has other fields."""
    return {**TPU_POD, "containers": [{**TPU_POD["containers"][0], **container}]}


def thing(kind: str, version: str, **fields: object) -> Resource:
    """An object by its kind, as it is registered."""
    inputs = {"apiVersion": version, "kind": kind, "metadata": {"name": "x", "namespace": "models"}, **fields}
    group = version if "/" in version else f"core/{version}"
    return Resource(f"kubernetes:{group}:{kind}", "x", inputs)


def release(chart: str, **inputs: object) -> Resource:
    return Resource("kubernetes:helm.sh/v3:Release", "release", {"chart": chart, "namespace": "kserve", **inputs})


def cluster(**inputs: object) -> Resource:
    return Resource("gcp:container/cluster:Cluster", "c", {"location": "europe-west4", **inputs})


def pool(**inputs: object) -> Resource:
    return Resource("gcp:container/nodePool:NodePool", "p", dict(inputs))


def policy(**spec: object) -> Resource:
    return thing("NetworkPolicy", "networking.k8s.io/v1", spec={"podSelector": {}, **spec})


def bundle(**inputs: object) -> Resource:
    return Resource("kubernetes:yaml/v2:ConfigGroup", "bundle", dict(inputs))


LATEST = pod(image="vllm/vllm-tpu:latest")
RESOURCES = "oci://ghcr.io/kserve/charts/kserve-llmisvc-resources"

KINDS = {
    "DaemonSet": thing("DaemonSet", "apps/v1", spec={"template": {"spec": LATEST}}),
    "ReplicaSet": thing("ReplicaSet", "apps/v1", spec={"template": {"spec": LATEST}}),
    "CronJob": thing("CronJob", "batch/v1", spec={"jobTemplate": {"spec": {"template": {"spec": LATEST}}}}),
    "JobSet": thing(
        "JobSet",
        "jobset.x-k8s.io/v1alpha2",
        spec={"replicatedJobs": [{"name": "w", "template": {"spec": {"template": {"spec": LATEST}}}}]},
    ),
    "LeaderWorkerSet": thing(
        "LeaderWorkerSet",
        "leaderworkerset.x-k8s.io/v1",
        spec={"leaderWorkerTemplate": {"workerTemplate": {"spec": LATEST}}},
    ),
    "PodTemplate": thing("PodTemplate", "v1", template={"spec": LATEST}),
    "a kind nobody knows": thing("Fleet", "example.com/v1", spec={"groups": {"a": {"pods": [LATEST]}}}),
    "InferenceService": thing("InferenceService", "serving.kserve.io/v1beta1", spec={"predictor": LATEST}),
    "an init container": thing("Pod", "v1", spec={**TPU_POD, "initContainers": LATEST["containers"]}),
    "an ephemeral container": thing("Pod", "v1", spec={**TPU_POD, "ephemeralContainers": LATEST["containers"]}),
    "a list": Resource(
        "kubernetes:core/v1:List",
        "list",
        {"apiVersion": "v1", "kind": "List", "items": [thing("Pod", "v1", spec=LATEST).inputs]},
    ),
    "a list under another token": Resource(
        THING, "list", {"apiVersion": "v1", "kind": "List", "items": [thing("Pod", "v1", spec=LATEST).inputs]}
    ),
}


@pytest.mark.parametrize("resource", KINDS.values(), ids=KINDS)
def test_pods_for_tpu_are_found_in_every_kind(resource: Resource) -> None:
    assert of(run_pack([resource]), "image-tag", "MANDATORY")


TOKENS = {
    "plain": {"apiVersion": GATEWAY["apiVersion"], "kind": "Gateway"},
    "secret kind": {"apiVersion": GATEWAY["apiVersion"], "kind": secret("Gateway")},
    "secret version": {"apiVersion": secret(GATEWAY["apiVersion"]), "kind": "Gateway"},
    "both secret": {"apiVersion": secret(GATEWAY["apiVersion"]), "kind": secret("Gateway")},
    "secret in a secret": {"apiVersion": secret(secret(GATEWAY["apiVersion"])), "kind": "Gateway"},
    "older version": {"apiVersion": secret("gateway.networking.k8s.io/v1beta1"), "kind": secret("Gateway")},
}


@pytest.mark.parametrize("written", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("token", [THING, "kubernetes:core/v1:ConfigMap", "gateway:gateway/v1:Thing"])
def test_a_lying_type_token_hides_nothing(written: dict[str, Any], token: str) -> None:
    assert of(run_pack([Resource(token, "g", {**GATEWAY, **written})]), "gateway-class", "MANDATORY")


def test_the_whole_spec_may_be_secret() -> None:
    assert of(
        run_pack([Resource(THING, "g", {**GATEWAY, "spec": secret(GATEWAY["spec"])})]), "gateway-class", "MANDATORY"
    )


CHARTS = {
    "a lying kind": (release(RESOURCES, version="v0.19.0", apiVersion="v1", kind="ConfigMap"), "platform-version"),
    "a lying kind, namespace": (
        Resource(
            "kubernetes:helm.sh/v3:Release",
            "r",
            {"chart": RESOURCES, "version": "v0.20.0", "namespace": "default", "apiVersion": "v1", "kind": "ConfigMap"},
        ),
        "kserve-namespace",
    ),
    "a lying kind, CRDs": (
        release(RESOURCES, version="v0.20.0", apiVersion="v1", kind="ConfigMap"),
        "crd-ownership",
    ),
    "tag in the address": (release(f"{RESOURCES}:v0.19.0"), "platform-version"),
    "tag beside a version": (release(f"{RESOURCES}:v0.19.0", version="v0.20.0"), "platform-version"),
    "archive": (
        release("https://github.com/kserve/kserve/releases/kserve-llmisvc-resources-v0.19.0.tgz"),
        "platform-version",
    ),
    "archive with a query": (release("https://x.example/lws-0.7.0.tgz?raw=1"), "platform-version"),
    "repository": (
        release("kserve-llmisvc-resources", version="0.19.0", repositoryOpts={"repo": "https://x.example"}),
        "platform-version",
    ),
    "fetch options": (
        Resource("kubernetes:helm.sh/v3:Chart", "c", {"chart": "lws", "fetchOpts": {"version": "0.7.0"}}),
        "platform-version",
    ),
    "no version": (release(RESOURCES), "platform-version"),
    "empty version": (release(RESOURCES, version=""), "platform-version"),
    "newest": (release(RESOURCES, version="*"), "platform-version"),
    "range": (release(RESOURCES, version=">=0.19.0"), "platform-version"),
    "minor": (release(RESOURCES, version="~0.20"), "platform-version"),
    "namespace by tag": (
        Resource("kubernetes:helm.sh/v3:Release", "r", {"chart": f"{RESOURCES}:v0.20.0", "namespace": "default"}),
        "kserve-namespace",
    ),
    "CRDs by tag": (release(f"{RESOURCES}:v0.20.0"), "crd-ownership"),
}


@pytest.mark.parametrize(("resource", "rule"), CHARTS.values(), ids=CHARTS)
def test_charts_are_judged_however_they_are_named(resource: Resource, rule: str) -> None:
    assert of(run_pack([resource]), rule, "MANDATORY")


def test_charts_that_are_pinned_in_their_address_or_beside_the_program_are_accepted() -> None:
    for chart in (f"{RESOURCES}:v0.20.0", f"{RESOURCES}@sha256:{'0' * 64}", "./charts/kserve-llmisvc-resources"):
        assert of(run_pack([release(chart)]), "platform-version") == [], chart


SECRETS: dict[str, Mapping[str, Any]] = {
    "shell": {"command": ["sh", "-c", "HF_TOKEN=abcdef vllm serve m"]},
    "shell after a command": {"args": ["cd /; export HF_TOKEN=abcdef;vllm serve m"]},
    "env command": {"command": ["env", "HF_TOKEN=abcdef", "vllm"]},
    "nested shells": {"command": ["bash", "-c", "sh -c 'HF_TOKEN=\"abcdef\" vllm'"]},
    "DB_PASS": {"env": [{"name": "DB_PASS", "value": "x"}]},
    "PGPASSWORD": {"env": [{"name": "PG_PASSWORD", "value": "x"}]},
    "lower case": {"env": [{"name": "hf_token", "value": "x"}]},
    "proxy with password": {"env": [{"name": "HTTPS_PROXY", "value": "http://u:p@proxy:3128"}]},
    "URL with password in arguments": {"args": ["--store", "redis://:p@cache:6379"]},
    "token under another name": {"env": [{"name": "INNOCENT", "value": "hf_" + "a" * 34}]},
    "private key": {"env": [{"name": "CONFIG", "value": "-----BEGIN RSA PRIVATE KEY-----\nMII"}]},
    "argument": {"args": ["--hf_token=abcdef"]},
    "two-part argument": {"args": ["--redis-password", "abcdef"]},
    "additional arguments": {"env": [{"name": "VLLM_ADDITIONAL_ARGS", "value": "--api-key abcdef"}]},
    "hook": {"lifecycle": {"postStart": {"exec": {"command": ["sh", "-c", "API_KEY=abcdef curl x"]}}}},
    "probe": {"readinessProbe": {"exec": {"command": ["curl", "http://u:p@localhost/health"]}}},
}


@pytest.mark.parametrize("fields", SECRETS.values(), ids=SECRETS)
def test_secrets_are_found_wherever_a_pod_can_carry_them(fields: Mapping[str, Any]) -> None:
    diagnostics = of(
        run_pack([thing("DaemonSet", "apps/v1", spec={"template": {"spec": pod(**fields)}})]), "plain-secret"
    )
    assert [one.level for one in diagnostics][:1] == ["MANDATORY"]
    assert not any("abcdef" in one.text or "u:p" in one.text for one in diagnostics)


@pytest.mark.parametrize(
    "fields",
    [
        {"command": ["sh", "-c", "HF_TOKEN=$(cat /secret/token) exec vllm serve m"]},
        {"command": ["sh", "-c", 'export HF_TOKEN="$OTHER"; vllm serve m']},
        {"env": [{"name": "TOKEN_FILE", "value": "/secret/token"}, {"name": "MAX_TOKENS", "value": "100"}]},
        {"env": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}, {"name": "URL", "value": "https://h/a:b@c"}]},
        {"args": ["--max-num-batched-tokens=4096", "--tokenizer", "hf://x", "--served-model-name=a"]},
    ],
)
def test_what_only_resembles_a_secret_is_left_alone(fields: Mapping[str, Any]) -> None:
    assert of(run_pack([thing("Pod", "v1", spec=pod(**fields))]), "plain-secret") == []


@pytest.mark.parametrize(
    "tag",
    ["", ":master", ":dev", ":edge", ":stable", ":v1", ":1", ":main", ":nightly-20260801", ":v0.27.0-nightly", ":cuda",
     ":LATEST", ":latest-v0.27.0", ":release", ":tpu-head"],
)  # fmt: skip
def test_tags_that_move_are_refused(tag: str) -> None:
    assert of(
        run_pack([thing("Pod", "v1", spec=pod(image=f"registry:5000/vllm/vllm-tpu{tag}"))]), "image-tag", "MANDATORY"
    )


@pytest.mark.parametrize(
    "tag",
    [":v0.27.0", ":0.9", ":v0.27.0-tpu", ":20260801", ":main-0a1b2c3d", ":sha-0a1b2c3", ":latest@sha256:" + "0" * 64,
     "@sha256:" + "0" * 64, ":v0.27.0rc1", ":1.36.2-gke.1"],
)  # fmt: skip
def test_tags_that_stay_are_accepted(tag: str) -> None:
    assert of(run_pack([thing("Pod", "v1", spec=pod(image=f"registry:5000/vllm/vllm-tpu{tag}"))]), "image-tag") == []


def test_image_volumes_and_models_in_images_are_pinned() -> None:
    volume = {"name": "weights", "image": {"reference": "registry/weights:latest"}}
    model = {"uri": "oci://registry/model:latest"}
    adapter = {"uri": "hf://a/b", "lora": {"adapters": [{"uri": "oci://registry/adapter"}]}}
    for resource in (
        thing("Pod", "v1", spec={**TPU_POD, "volumes": [volume]}),
        thing("LLMInferenceService", "serving.kserve.io/v1alpha2", spec={"model": model}),
        thing("LLMInferenceServiceConfig", "serving.kserve.io/v1alpha2", spec={"model": adapter}),
    ):
        assert of(run_pack([resource]), "image-tag", "MANDATORY"), resource


EVERYBODY = {
    "0.0.0.0/0": ["0.0.0.0/0"],
    "two halves": ["0.0.0.0/1", "128.0.0.0/1"],
    "quarters": ["0.0.0.0/2", "64.0.0.0/2", "128.0.0.0/2", "192.0.0.0/2"],
    "IPv6": ["::/0"],
    "halves of IPv6": ["::/1", "8000::/1"],
    "all of IPv6 that is given out": ["2000::/3"],
    "IPv4 in IPv6": ["::ffff:0:0/96"],
    "two digits": ["0.0.0.0/00"],
    "a netmask": ["0.0.0.0/0.0.0.0"],
    "host bits": ["8.8.8.8/0"],
    "spaces": [" 0.0.0.0/0 "],
    "shorter than /8": ["64.0.0.0/6"],
    "256 ranges of /8": [f"{first}.0.0.0/8" for first in range(256)],
}


@pytest.mark.parametrize("ranges", EVERYBODY.values(), ids=EVERYBODY)
def test_everybody_is_recognized_in_every_spelling(ranges: list[str], in_stack: InStack) -> None:
    in_stack("production")
    blocks = [{"cidrBlock": one} for one in ranges]
    diagnostics = run_pack([cluster(masterAuthorizedNetworksConfig={"cidrBlocks": blocks})])
    assert of(diagnostics, "production-control-plane", "MANDATORY")
    peers = [{"ipBlock": {"cidr": one}} for one in ranges]
    assert of(run_pack([policy(ingress=[{"from": peers}])]), "network-policy-open")
    assert of(run_pack([policy(egress=[{"to": peers}])]), "network-policy-open")


def test_ranges_of_offices_are_accepted(in_stack: InStack) -> None:
    in_stack("prod")
    for one in ("10.0.0.0/8", "203.0.113.0/24", "2001:db8::/32", "192.0.2.1/32"):
        diagnostics = run_pack([cluster(masterAuthorizedNetworksConfig={"cidrBlocks": [{"cidrBlock": one}]})])
        assert of(diagnostics, "production-control-plane") == [], one
        assert of(run_pack([policy(ingress=[{"from": [{"ipBlock": {"cidr": one}}]}])]), "network-policy-open") == []


CLUSTERS = {
    "Google's addresses": (
        cluster(masterAuthorizedNetworksConfig={"gcpPublicCidrsAccessEnabled": True}),
        "production-control-plane",
    ),
    "no range": (
        cluster(masterAuthorizedNetworksConfig={"cidrBlocks": [{"cidrBlock": "everybody"}]}),
        "production-control-plane",
    ),
    "public nodes of a pool": (pool(networkConfig={"enablePrivateNodes": False}), "production-private-nodes"),
    "public nodes of an inline pool": (
        cluster(
            privateClusterConfig={"enablePrivateNodes": True},
            nodePools=[{"networkConfig": {"enablePrivateNodes": False}}],
        ),
        "production-private-nodes",
    ),
    "an inline pool of a type that never existed": (
        cluster(nodePools=[{"nodeConfig": {"machineType": "ct6e-standard-16t"}}]),
        "tpu-machine-type",
    ),
    "an inline pool in the zone of its cluster": (
        cluster(
            location="us-south1",
            nodeLocations=["us-south1-a"],
            nodePools=[{"nodeConfig": {"machineType": "ct6e-standard-4t"}}],
        ),
        "tpu-zone",
    ),
    "the default pool": (cluster(nodeConfig={"machineType": "ct6e-standard-16t"}), "tpu-machine-type"),
    "an empty workload pool": (cluster(workloadIdentityConfig={"workloadPool": ""}), "workload-identity"),
    "a workload pool of blanks": (cluster(workloadIdentityConfig={"workloadPool": " "}), "workload-identity"),
    "no workload pool": (cluster(workloadIdentityConfig={}), "workload-identity"),
}


@pytest.mark.parametrize(("resource", "rule"), CLUSTERS.values(), ids=CLUSTERS)
def test_clusters_are_judged_with_all_that_is_written_into_them(
    resource: Resource, rule: str, in_stack: InStack
) -> None:
    in_stack("prod-eu")
    assert of(run_pack([resource]), rule, "MANDATORY")


def test_hardening_of_inline_pools_is_judged() -> None:
    assert of(run_pack([cluster(nodePools=[{"nodeConfig": {"machineType": "e2-medium"}}])]), "node-hardening")


@pytest.mark.parametrize("stack", ["prod", "production", "prod-eu", "PROD", "Production.eu"])
def test_production_is_recognized_by_a_pattern(stack: str, in_stack: InStack) -> None:
    in_stack(stack)
    assert of(run_pack([cluster()]), "production-private-nodes", "MANDATORY")
    in_stack("dev")
    assert of(run_pack([cluster()]), "production-private-nodes") == []


def listener(**fields: object) -> dict[str, Any]:
    return {"listeners": [{"name": "more", "protocol": "HTTP", "port": 8080, **fields}]}


OPEN_TO_ALL = {"allowedRoutes": {"namespaces": {"from": "All"}}}
LISTENERS = {
    "patch without a class": Resource(
        "kubernetes:gateway.networking.k8s.io/v1:GatewayPatch", "g", {"spec": listener(**OPEN_TO_ALL)}
    ),
    "patch that says nothing of namespaces": Resource(
        "kubernetes:gateway.networking.k8s.io/v1:GatewayPatch", "g", {"spec": listener()}
    ),
    "patch with HTTPS beside it": Resource(
        "kubernetes:gateway.networking.k8s.io/v1:GatewayPatch",
        "g",
        {"spec": {"listeners": [{"name": "s", "protocol": "HTTPS"}, *listener(**OPEN_TO_ALL)["listeners"]]}},
    ),
    "istio": thing("Gateway", "gateway.networking.k8s.io/v1", spec={"gatewayClassName": "istio", **listener()}),
    "another class": thing(
        "Gateway", "gateway.networking.k8s.io/v1", spec={"gatewayClassName": "public", **listener()}
    ),
    "TCP": thing(
        "Gateway",
        "gateway.networking.k8s.io/v1",
        spec={"gatewayClassName": "gke-l7-regional-external-managed", **listener(protocol="TCP")},
    ),
    "ListenerSet": thing("ListenerSet", "gateway.networking.k8s.io/v1", spec=listener(**OPEN_TO_ALL)),
    "XListenerSet": thing("XListenerSet", "gateway.networking.x-k8s.io/v1alpha1", spec=listener(**OPEN_TO_ALL)),
}


@pytest.mark.parametrize("resource", LISTENERS.values(), ids=LISTENERS)
def test_plain_listeners_are_found_wherever_they_are_added(resource: Resource, in_stack: InStack) -> None:
    in_stack("production")
    assert of(run_pack([resource]), "production-https", "MANDATORY")


OPEN_POLICIES: dict[str, Mapping[str, Any]] = {
    "empty rule": {"ingress": [{}]},
    "empty peers": {"ingress": [{"from": []}]},
    "empty peers and ports": {"egress": [{"to": [], "ports": []}]},
    "null": {"egress": [{"to": None}]},
    "ports only": {"ingress": [{"ports": [{"port": 8000}]}]},
    "all TCP": {"egress": [{"ports": [{"protocol": "TCP"}]}]},
    "all ports": {"egress": [{"ports": [{"port": 1, "endPort": 65535}]}]},
    "every namespace": {"ingress": [{"from": [{"namespaceSelector": {}}]}]},
    "every namespace and pod": {"ingress": [{"from": [{"namespaceSelector": {}, "podSelector": {}}]}]},
    "no labels": {"ingress": [{"from": [{"namespaceSelector": {"matchLabels": {}}}]}]},
    "a label that all have": {
        "ingress": [
            {
                "from": [
                    {
                        "namespaceSelector": {
                            "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]
                        }
                    }
                ]
            }
        ]
    },
    "all but one": {
        "ingress": [
            {
                "from": [
                    {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}}
                ]
            }
        ]
    },
    "one of several peers": {
        "ingress": [{"from": [{"podSelector": {"matchLabels": {"a": "b"}}}, {"ipBlock": {"cidr": "0.0.0.0/0"}}]}]
    },
    "with exceptions": {"ingress": [{"from": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}]}]},
    "a direction that is not enforced": {"policyTypes": ["Ingress"], "egress": [{"ports": [{"port": 53}]}]},
}


@pytest.mark.parametrize("spec", OPEN_POLICIES.values(), ids=OPEN_POLICIES)
def test_a_policy_that_admits_everybody_is_found_in_every_spelling(spec: Mapping[str, Any]) -> None:
    assert of(run_pack([policy(**spec)]), "network-policy-open")


@pytest.mark.parametrize(
    "spec",
    [
        {"ingress": [], "egress": [], "policyTypes": ["Ingress", "Egress"]},
        {"egress": [{"ports": [{"port": 53, "protocol": "UDP"}]}]},
        {"egress": [{"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}], "ports": [{"port": 443}]}]},
        {"ingress": [{"from": [{"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": "x"}}}]}]},
        {"ingress": [{"from": [{"podSelector": {}}]}]},
    ],
)
def test_a_policy_that_restricts_something_is_accepted(spec: Mapping[str, Any]) -> None:
    assert of(run_pack([policy(**spec)]), "network-policy-open") == []


@pytest.mark.parametrize(
    "spec",
    [{"ingress": [{"fromEntities": ["world"]}]}, {"ingress": [{}]}, {"egress": [{"toCIDR": ["0.0.0.0/0"]}]},
     {"ingress": [{"fromEndpoints": [{}]}]}],
)  # fmt: skip
def test_policies_of_cilium_are_judged(spec: Mapping[str, Any]) -> None:
    resource = thing("CiliumClusterwideNetworkPolicy", "cilium.io/v2", spec={"endpointSelector": {}, **spec})
    assert of(run_pack([resource]), "network-policy-open")


def aimed(kind: str, **spec: object) -> Resource:
    return thing(kind, "networking.gke.io/v1", spec=spec)


HASHED = {"group": "", "kind": "Service", "name": "qwen-inference-pool-ip-24a13a90"}
CUT = {"group": "", "kind": "Service", "name": "a-very-long-name-of-a-0123456789abcdef0123456789abcdef"}
TARGETS = {
    "GCPGatewayPolicy": aimed("GCPGatewayPolicy", targetRef=HASHED),
    "GCPSessionAffinityPolicy": aimed("GCPSessionAffinityPolicy", targetRef=HASHED),
    "several targets": aimed("GCPAuthzPolicy", targetRefs=[{"kind": "Gateway", "name": "g"}, HASHED]),
    "BackendTLSPolicy": thing("BackendTLSPolicy", "gateway.networking.k8s.io/v1", spec={"targetRefs": [HASHED]}),
    "a kind nobody knows": thing("Some", "example.com/v1", spec={"targetRef": HASHED}),
    "GRPCRoute": thing("GRPCRoute", "gateway.networking.k8s.io/v1", spec={"rules": [{"backendRefs": [HASHED]}]}),
    "HTTPRoute": thing(
        "HTTPRoute", "gateway.networking.k8s.io/v1", spec={"rules": [{"backendRefs": [{"name": HASHED["name"]}]}]}
    ),
    "KServe's hashed names": aimed("HealthCheckPolicy", targetRef=CUT),
    "GKE's Services": aimed("GCPBackendPolicy", targetRef={**HASHED, "name": "gkegw1-abcd-models-qwen-8000"}),
}


@pytest.mark.parametrize("resource", TARGETS.values(), ids=TARGETS)
def test_generated_names_are_targets_of_no_kind_of_policy(resource: Resource) -> None:
    assert of(run_pack([resource]), "generated-service-target", "MANDATORY")


OLD_POOL = {"group": "inference.networking.x-k8s.io", "kind": "InferencePool", "name": "qwen-inference-pool"}
POOLS = {
    "GCPTrafficDistributionPolicy": aimed("GCPTrafficDistributionPolicy", targetRefs=[OLD_POOL]),
    "GCPSessionAffinityPolicy": aimed("GCPSessionAffinityPolicy", targetRef=OLD_POOL),
    "GRPCRoute": thing("GRPCRoute", "gateway.networking.k8s.io/v1", spec={"rules": [{"backendRefs": [OLD_POOL]}]}),
    "a mirror": thing(
        "HTTPRoute",
        "gateway.networking.k8s.io/v1",
        spec={"rules": [{"filters": [{"type": "RequestMirror", "requestMirror": {"backendRef": OLD_POOL}}]}]},
    ),
}


@pytest.mark.parametrize("resource", POOLS.values(), ids=POOLS)
def test_pools_are_judged_as_targets_of_every_kind_of_policy_and_route(resource: Resource) -> None:
    assert of(run_pack([resource]), "inference-pool-group", "MANDATORY")


@pytest.mark.parametrize("kind", ["GCPGatewayPolicy", "GCPSessionAffinityPolicy", "GCPTrafficDistributionPolicy"])
def test_a_target_takes_one_policy_of_each_kind(kind: str) -> None:
    first = aimed(kind, targetRef={"group": "", "kind": "Service", "name": "vllm"})
    second = Resource(first.type, "second", {**first.inputs, "metadata": {"name": "second", "namespace": "models"}})
    assert of(run_pack([first, second]), "one-policy-per-target", "MANDATORY")


GATEWAY_TEXT = yaml.safe_dump(GATEWAY)
BUNDLES = {
    "list in objs": bundle(objs=[{"apiVersion": "v1", "kind": "List", "items": [GATEWAY]}]),
    "list in a list": bundle(
        objs=[{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "List", "items": [GATEWAY]}]}]
    ),
    "list in text": bundle(yaml=yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [GATEWAY]})),
    "typed list": bundle(
        objs=[{"apiVersion": GATEWAY["apiVersion"], "kind": "GatewayList", "items": [GATEWAY]}]
    ),
    "after a document with an error": bundle(yaml=f"a: [\n---\n{GATEWAY_TEXT}"),
    "before a document with an error": bundle(yaml=f"{GATEWAY_TEXT}\n---\na: [\n"),
    "after a custom tag": bundle(yaml=f"a: !mine b\n---\n{GATEWAY_TEXT}"),
    "with a custom tag": bundle(yaml=GATEWAY_TEXT.replace("kind: Gateway", "kind: !mine Gateway")),
    "secret text": bundle(yaml=secret(GATEWAY_TEXT)),
    "secret objects": bundle(objs=secret([GATEWAY])),
    "JSON": bundle(yaml=['{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": "g"}, '
                         '"spec": {"gatewayClassName": "gke-l7-gxlb"}}']),
    "a lying bundle": Resource(
        "kubernetes:yaml/v2:ConfigGroup", "b", {"apiVersion": "v1", "kind": "ConfigMap", "objs": [GATEWAY]}
    ),
}  # fmt: skip


@pytest.mark.parametrize("resource", BUNDLES.values(), ids=BUNDLES)
def test_bundles_are_unpacked(resource: Resource) -> None:
    assert of(run_pack([resource]), "gateway-class", "MANDATORY")


def test_a_number_of_any_size_is_judged() -> None:
    for period in (1e308, -1e308):
        probe = {"httpGet": {"path": "/health"}, "periodSeconds": period, "failureThreshold": period}
        diagnostics = run_pack([thing("Deployment", "apps/v1", spec={"template": {"spec": pod(startupProbe=probe)}})])
        assert not any("this rule failed" in one.text for one in diagnostics)
