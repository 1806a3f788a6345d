"""Fifty ways that somebody who wants to get past the rules may try: each of them is seen."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.policies.conftest import InStack
from tests.policies.registered import (
    GATEWAY,
    GATEWAY_TEXT,
    HASHED,
    RESOURCES,
    TPU_POD,
    bundle,
    cluster,
    pod,
    policy,
    pool,
    release,
    thing,
)
from tests.policies.support import Resource, of, run_pack, secret

PATCH = "kubernetes:apps/v1:DeploymentPatch"
NODE_PORT = thing("Service", "v1", spec={"type": "NodePort"}).inputs
ROLE_REF = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
ANYBODY = {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "system:authenticated"}


def patch(**pod_fields: object) -> Resource:
    """A patch of a Deployment that holds little of its pod."""
    return Resource(PATCH, "patch", {"metadata": {"name": "x"}, "spec": {"template": {"spec": pod_fields}}})


def google(type_: str, **inputs: object) -> Resource:
    return Resource(f"gcp:{type_}", "granted", dict(inputs))


def env(name: str, value: str = "abcdef") -> Resource:
    return thing("Pod", "v1", spec=pod(env=[{"name": name, "value": value}]))


def network(kind: str, **spec: object) -> Resource:
    return thing(kind, "policy.networking.k8s.io/v1alpha1", spec=spec)


def text(content: str) -> Resource:
    return bundle(yaml=content)


BINARY = GATEWAY_TEXT.replace("kind: Gateway", "kind: !!binary R2F0ZXdheQ==")
MERGED = (
    "base: &base {apiVersion: gateway.networking.k8s.io/v1, kind: Gateway}\n"
    "<<: *base\nmetadata: {name: g}\nspec: {gatewayClassName: gke-l7-gxlb}\n"
)
DEEP = "a: " + "[" * 300 + "]" * 300 + f"\n---\n{GATEWAY_TEXT}"

ATTACKS: dict[str, tuple[Resource, str]] = {
    # Bundles
    "Windows line ends": (text(f"a: 1\r\n---\r\n{GATEWAY_TEXT}".replace("\n", "\r\n")), "gateway-class"),
    "byte order mark": (text(f"\ufeff{GATEWAY_TEXT}"), "gateway-class"),
    "content behind the dashes": (text("--- " + yaml.safe_dump(GATEWAY, default_flow_style=True)), "gateway-class"),
    "comment behind the dashes": (text(f"a: 1\n--- # next\n{GATEWAY_TEXT}"), "gateway-class"),
    "end of document marks": (text(f"a: 1\n...\n---\n{GATEWAY_TEXT}"), "gateway-class"),
    "merge keys": (text(MERGED), "gateway-class"),
    "a binary kind": (text(BINARY), "gateway-class"),
    "the last of two kinds": (text(f"kind: ConfigMap\n{GATEWAY_TEXT}"), "gateway-class"),
    "behind a document that is too deep": (text(DEEP), "gateway-class"),
    "a directive": (text(f"%YAML 1.1\n---\n{GATEWAY_TEXT}"), "gateway-class"),
    "one of many texts": (bundle(yaml=["a: 1", "b: [", GATEWAY_TEXT]), "gateway-class"),
    "ConfigFile with objects": (Resource("kubernetes:yaml:ConfigFile", "f", {"resources": [GATEWAY]}), "gateway-class"),
    # Charts
    "a secret version": (release("oci://registry.k8s.io/lws/charts/lws", version=secret("0.7.0")), "platform-version"),
    "a secret chart": (release(secret("oci://registry.k8s.io/lws/charts/lws"), version="0.7.0"), "platform-version"),  # pyright: ignore[reportArgumentType]
    "a slash at the end": (release("oci://registry.k8s.io/lws/charts/lws/", version="0.7.0"), "platform-version"),
    "a release candidate of the floor": (release(RESOURCES, version="v0.20.0-rc1"), "platform-version"),
    "a number for a version": (release("lws", version=0.7), "platform-version"),
    "an archive beside a version": (release("./lws-0.7.0.tgz", version="0.9.0"), "platform-version"),
    # Pods
    "a patch of one init container": (
        patch(nodeSelector=TPU_POD["nodeSelector"], initContainers=[{"name": "i", "image": "x:latest"}]),
        "image-tag",
    ),
    "a patch of host namespaces": (patch(hostNetwork=True), "privileged-pod"),
    "capabilities by another name": (
        thing("Pod", "v1", spec=pod(securityContext={"capabilities": {"add": ["cap_sys_admin"]}})),
        "privileged-pod",
    ),
    "no seccomp": (
        thing("Pod", "v1", spec={**TPU_POD, "securityContext": {"seccompProfile": {"type": "Unconfined"}}}),
        "privileged-pod",
    ),
    "privileges as text": (thing("Pod", "v1", spec=pod(securityContext={"privileged": "true"})), "privileged-pod"),
    "a secret switch": (thing("Pod", "v1", spec={**TPU_POD, "hostPID": secret(True)}), "privileged-pod"),
    "a local volume": (
        thing("PersistentVolume", "v1", spec={"local": {"path": "/var/lib/kubelet"}}),
        "privileged-pod",
    ),
    "a host port as text": (
        thing("Pod", "v1", spec=pod(ports=[{"containerPort": 80, "hostPort": "80"}])),
        "privileged-pod",
    ),
    # Secrets
    "a name without underscore": (env("PGPASSWORD"), "plain-secret"),
    "a name in camel case": (env("hfToken"), "plain-secret"),
    "a numbered name": (env("HF_TOKEN_2"), "plain-secret"),
    "a header of a probe": (
        thing(
            "Pod",
            "v1",
            spec=pod(startupProbe={"httpGet": {"httpHeaders": [{"name": "Authorization", "value": "Bearer abcdef"}]}}),
        ),
        "plain-secret",
    ),
    "a script in a ConfigMap": (
        thing("ConfigMap", "v1", data={"start.sh": "#!/bin/sh\nexport HF_TOKEN=abcdef\nexec vllm"}),
        "plain-secret-value",
    ),
    "half of a Secret": (
        thing("Secret", "v1", stringData={"a": secret("abcdef"), "b": "abcdef"}),
        "plain-secret-value",
    ),
    "a Secret in a text": (
        text("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {token: abcdef}\n"),
        "plain-secret-value",
    ),
    "a list of Secrets": (
        Resource("kubernetes:core/v1:SecretList", "s", {"items": [{"data": {"token": "YWJjZGVm"}}]}),
        "plain-secret-value",
    ),
    # Networks
    "every name": (
        thing("FQDNNetworkPolicy", "networking.gke.io/v1alpha1", spec={"egress": [{"matches": [{"pattern": "*"}]}]}),
        "network-policy-open",
    ),
    "every name of a domain": (
        thing(
            "FQDNNetworkPolicy", "networking.gke.io/v1alpha1", spec={"egress": [{"matches": [{"pattern": "*.com"}]}]}
        ),
        "network-policy-open",
    ),
    "the administrator's policy": (
        network("AdminNetworkPolicy", ingress=[{"action": "Allow", "from": [{"namespaces": {}}]}]),
        "network-policy-open",
    ),
    "a patch of a policy": (
        Resource("kubernetes:networking.k8s.io/v1:NetworkPolicyPatch", "p", {"spec": {"ingress": [{}]}}),
        "network-policy-open",
    ),
    "a list of policies": (
        Resource("kubernetes:networking.k8s.io/v1:NetworkPolicyList", "p", {"items": [policy(egress=[{}]).inputs]}),
        "network-policy-open",
    ),
    "a firewall without ranges": (google("compute/firewall:Firewall", allows=[{"protocol": "tcp"}]), "public-firewall"),
    "a firewall in IPv6": (
        google("compute/firewall:Firewall", allows=[{"protocol": "tcp"}], sourceRanges=["::/0"]),
        "public-firewall",
    ),
    # Exposure
    "a Service under another token": (Resource("kubernetes:example.com/v1:Thing", "s", NODE_PORT), "public-service"),
    "a patch of a Service": (
        Resource("kubernetes:core/v1:ServicePatch", "s", {"spec": {"type": secret("LoadBalancer")}}),
        "public-service",
    ),
    "halves of the source ranges": (
        thing(
            "Service",
            "v1",
            spec={"type": "LoadBalancer", "loadBalancerSourceRanges": ["0.0.0.0/1", "128.0.0.0/1"]},
        ),
        "public-service",
    ),
    "not internal": (
        Resource(
            "kubernetes:core/v1:Service",
            "s",
            {
                "metadata": {"name": "x", "annotations": {"networking.gke.io/load-balancer-type": "External"}},
                "spec": {"type": "LoadBalancer"},
            },
        ),
        "public-service",
    ),
    "an older Ingress": (thing("Ingress", "extensions/v1beta1", spec={}), "ingress"),
    "an older binding": (
        thing("ClusterRoleBinding", "rbac.authorization.k8s.io/v1beta1", roleRef=ROLE_REF, subjects=[ANYBODY]),
        "anonymous-binding",
    ),
    "a secret member": (
        google("projects/iAMMember:IAMMember", role="roles/viewer", member=secret("allUsers")),
        "public-iam-member",
    ),
    "a member in other letters": (google("cloudrun/iamMember:IamMember", member=" ALLUSERS "), "public-iam-member"),
    "a member in escaped JSON": (
        google("storage/bucketIAMPolicy:BucketIAMPolicy", policyData='{"bindings": [{"members": ["\\u0061llUsers"]}]}'),
        "public-iam-member",
    ),
    "an access list by name": (google("storage/bucketACL:BucketACL", predefinedAcl="publicRead"), "public-iam-member"),
    "a data set": (
        google("bigquery/dataset:Dataset", accesses=[{"role": "READER", "specialGroup": "allAuthenticatedUsers"}]),
        "public-iam-member",
    ),
    "a role of an organization": (
        google("organizations/iAMMember:IAMMember", role="roles/Owner", member="user:a@example.com"),
        "basic-iam-role",
    ),
    # Clusters
    "tokens instead of IAM": (
        cluster(
            controlPlaneEndpointsConfig={
                "ipEndpointsConfig": {"enabled": False},
                "dnsEndpointConfig": {"allowExternalTraffic": True, "enableK8sTokensViaDns": True},
            }
        ),
        "production-control-plane",
    ),
    "secret ranges": (
        cluster(masterAuthorizedNetworksConfig=secret({"cidrBlocks": [{"cidrBlock": "0.0.0.0/0"}]})),
        "production-control-plane",
    ),
    "secret inline pools": (
        cluster(nodePools=secret([{"nodeConfig": {"machineType": "ct6e-standard-16t"}}])),
        "tpu-machine-type",
    ),
    "public nodes as text": (pool(networkConfig={"enablePrivateNodes": "false"}), "production-private-nodes"),
    # Routes
    "a mirror to a generated Service": (
        thing(
            "HTTPRoute",
            "gateway.networking.k8s.io/v1",
            spec={"rules": [{"filters": [{"type": "RequestMirror", "requestMirror": {"backendRef": HASHED}}]}]},
        ),
        "generated-service-target",
    ),
    "a patch with a generated target": (
        Resource("kubernetes:networking.gke.io/v1:GCPBackendPolicyPatch", "p", {"spec": {"targetRef": HASHED}}),
        "generated-service-target",
    ),
    "empty timeouts": (
        thing("HTTPRoute", "gateway.networking.k8s.io/v1beta1", spec={"rules": [{"timeouts": {}}]}),
        "route-timeouts",
    ),
}


def test_there_are_fifty() -> None:
    assert len(ATTACKS) >= 50


@pytest.mark.parametrize(("resource", "rule"), ATTACKS.values(), ids=ATTACKS)
def test_an_attack_is_seen(resource: Resource, rule: str, in_stack: InStack) -> None:
    in_stack("prod")
    diagnostics = of(run_pack([resource]), rule)
    assert diagnostics
    assert not any("this rule failed" in one.text or "abcdef" in one.text for one in diagnostics)
    levels = {one.level for one in diagnostics}
    advisory: Any = {"network-policy-open"}
    assert "MANDATORY" in levels or rule in advisory


@pytest.mark.parametrize(
    ("context", "rules"),
    [
        ({"privileged": True}, {"privileged-pod"}),
        ({"capabilities": {"add": ["SYS_ADMIN"]}}, {"privileged-pod"}),
        ({"capabilities": {"add": ["CAP_SYS_RESOURCE"]}}, {"model-privileges"}),
        ({"capabilities": {"add": ["SYS_ADMIN", "SYS_RESOURCE"]}}, {"privileged-pod", "model-privileges"}),
    ],
)
def test_each_privilege_of_a_server_is_reported_by_one_rule(context: dict[str, Any], rules: set[str]) -> None:
    diagnostics = run_pack([thing("Pod", "v1", spec=pod(securityContext=context))])
    assert {one.policy for one in diagnostics} & {"privileged-pod", "model-privileges"} == rules
    assert len([one for one in diagnostics if one.policy in rules]) == len(rules)
