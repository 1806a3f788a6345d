"""Ways around the rules by another shape: tokens, texts, patches, older and newer kinds, spellings of secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

from tests.policies.conftest import InStack
from tests.policies.registered import GATEWAY, GATEWAY_TEXT, HASHED, OLD_POOL, bundle, cluster, policy, release, thing
from tests.policies.support import Resource, of, run_pack, secret
from tests.policies.test_attacks import google, network, patch, text


def svc(annotations: dict[str, str] | None = None, **spec: object) -> Resource:
    return Resource(
        "kubernetes:core/v1:Service", "s", {"metadata": {"name": "x", "annotations": annotations or {}}, "spec": spec}
    )


def fw(type_: str, **inputs: object) -> Resource:
    return google(f"compute/{type_[0].lower() + type_[1:]}:{type_}", **inputs)


RULE: dict[str, Any] = {
    "action": "allow",
    "direction": "INGRESS",
    "match": {"srcIpRanges": ["0.0.0.0/0"], "layer4Configs": [{"ipProtocol": "all"}]},
}


def pod(**security: object) -> Resource:
    return thing("Pod", "v1", spec={"containers": [{"name": "a", "securityContext": security}]})


def inline(*rules: object) -> Resource:
    return thing(
        "LLMInferenceService",
        "serving.kserve.io/v1alpha2",
        spec={"model": {"uri": "hf://a/b"}, "router": {"route": {"http": {"spec": {"rules": [*rules]}}}}},
    )


def cilium(**spec: object) -> Resource:
    return thing("CiliumNetworkPolicy", "cilium.io/v2", spec={"endpointSelector": {}, **spec})


def route(parents: list[dict[str, str]], version: str = "v1") -> Resource:
    return thing(
        "HTTPRoute",
        f"gateway.networking.k8s.io/{version}",
        spec={"parentRefs": parents, "rules": [{"timeouts": {"request": "0s"}}]},
    )


PRIV: dict[str, Any] = {"containers": [{"name": "a", "securityContext": {"privileged": True}}]}
ATTACKS: dict[str, tuple[Resource, str]] = {
    # Kinds and texts
    "helm.sh token": (Resource("kubernetes:helm.sh/v1:Thing", "g", GATEWAY), "gateway-class"),
    "yaml token": (Resource("kubernetes:yaml/v9:Thing", "g", GATEWAY), "gateway-class"),
    "kustomize token": (Resource("kubernetes:kustomize:Thing", "g", GATEWAY), "gateway-class"),
    "ConfigGroup as custom": (Resource("kubernetes:yaml/v2:ConfigGroup", "g", GATEWAY), "gateway-class"),
    "list by another name": (bundle(objs=[{"apiVersion": "v1", "kind": "Bag", "items": [GATEWAY]}]), "gateway-class"),
    "JSON with tabs": (text(json.dumps(GATEWAY, indent="\t")), "gateway-class"),
    "JSON stream": (text('{"apiVersion":"v1","kind":"ConfigMap"}\n' + json.dumps(GATEWAY)), "gateway-class"),
    "unknown kind in objs": (bundle(objs=[{**GATEWAY, "kind": UNKNOWN_STRING_VALUE}]), "unreadable-manifest"),
    "anchors": (text("a: &k Gateway\n---\n" + GATEWAY_TEXT), "gateway-class"),
    # Pods
    "decoy empty containers": (
        thing("Deployment", "apps/v1", containers=[], spec={"template": {"spec": PRIV}}),
        "privileged-pod",
    ),
    "decoy in spec": (
        thing("Fleet", "example.com/v1", spec={"initContainers": [], "template": {"spec": PRIV}}),
        "privileged-pod",
    ),
    "null among containers": (thing("Pod", "v1", spec={"containers": [None, *PRIV["containers"]]}), "privileged-pod"),
    "patch of volumes": (patch(volumes=[{"name": "a", "hostPath": {"path": "/"}}]), "privileged-pod"),
    "patch of seccomp": (patch(securityContext={"seccompProfile": {"type": "Unconfined"}}), "privileged-pod"),
    "native sidecar": (
        thing(
            "Pod",
            "v1",
            spec={
                "containers": [{"name": "a"}],
                "initContainers": [{"name": "s", "restartPolicy": "Always", "securityContext": {"privileged": True}}],
            },
        ),
        "privileged-pod",
    ),
    "ephemeral": (
        thing("Pod", "v1", spec={"ephemeralContainers": [{"name": "s", "securityContext": {"privileged": True}}]}),
        "privileged-pod",
    ),
    "apparmor": (pod(appArmorProfile={"type": "Unconfined"}), "privileged-pod"),
    "PERFMON": (pod(capabilities={"add": ["PERFMON"]}), "privileged-pod"),
    "MAC_ADMIN": (pod(capabilities={"add": ["MAC_ADMIN"]}), "privileged-pod"),
    "chart values": (release("x", values={"hostNetwork": True}), "privileged-pod"),
    "v4 chart values": (
        Resource(
            "kubernetes:helm.sh/v4:Chart",
            "c",
            {"chart": "x", "values": {"extra": {"initContainers": PRIV["containers"]}}},
        ),
        "privileged-pod",
    ),
    "PV list": (
        Resource("kubernetes:core/v1:PersistentVolumeList", "l", {"items": [{"spec": {"hostPath": {"path": "/"}}}]}),
        "privileged-pod",
    ),
    "PV in text": (
        text("apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: a}\nspec: {hostPath: {path: /}}"),
        "privileged-pod",
    ),
    "namespace": (
        Resource(
            "kubernetes:core/v1:NamespacePatch",
            "n",
            {"metadata": {"name": "m", "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}},
        ),
        "privileged-pod",
    ),
    # Services
    "annotation order": (
        svc(
            {"networking.gke.io/load-balancer-type": "External", "cloud.google.com/load-balancer-type": "Internal"},
            type="LoadBalancer",
        ),
        "public-service",
    ),
    "INTERNAL": (svc({"networking.gke.io/load-balancer-type": "INTERNAL"}, type="LoadBalancer"), "public-service"),
    "class over annotation": (
        svc(
            {"networking.gke.io/load-balancer-type": "Internal"},
            type="LoadBalancer",
            loadBalancerClass="networking.gke.io/l4-regional-external",
        ),
        "public-service",
    ),
    "patch widens ranges": (
        Resource(
            "kubernetes:core/v1:ServicePatch",
            "s",
            {"metadata": {"name": "x"}, "spec": {"loadBalancerSourceRanges": ["0.0.0.0/0"]}},
        ),
        "public-service",
    ),
    "ingress two classes": (
        Resource(
            "kubernetes:networking.k8s.io/v1:Ingress",
            "i",
            {
                "metadata": {"name": "x", "annotations": {"kubernetes.io/ingress.class": "gce"}},
                "spec": {"ingressClassName": "gce-internal"},
            },
        ),
        "ingress",
    ),
    # Google Cloud
    "firewall policy rule": (fw("NetworkFirewallPolicyRule", **RULE), "public-firewall"),
    "regional policy rule": (fw("RegionNetworkFirewallPolicyRule", **RULE), "public-firewall"),
    "org policy rule": (fw("FirewallPolicyRule", **RULE), "public-firewall"),
    "policy with rules": (fw("NetworkFirewallPolicyWithRules", rules=[RULE]), "public-firewall"),
    "policy rule IPv6": (
        fw("NetworkFirewallPolicyRule", **{**RULE, "match": {"srcIpRanges": ["::/0"]}}),
        "public-firewall",
    ),
    "projectIamAdmin": (
        google("projects/iAMMember:IAMMember", role="roles/resourcemanager.projectIamAdmin", member="user:a@b.c"),
        "basic-iam-role",
    ),
    "securityAdmin": (
        google("projects/iAMMember:IAMMember", role="roles/iam.securityAdmin", member="user:a@b.c"),
        "basic-iam-role",
    ),
    "workforce pool": (
        google(
            "projects/iAMMember:IAMMember",
            role="roles/viewer",
            member="principalSet://iam.googleapis.com/locations/global/workforcePools/p/*",
        ),
        "public-iam-member",
    ),
    "run without IAM": (google("cloudrunv2/service:Service", invokerIamDisabled=True), "public-iam-member"),
    "binding list": (
        google(
            "projects/iAMBinding:IAMBinding",
            role="roles/viewer",
            members=["user:a@b.c", secret("allAuthenticatedUsers")],
        ),
        "public-iam-member",
    ),
    "the Internet by name": (
        fw("NetworkFirewallPolicyRule", **{**RULE, "match": {"srcNetworkScope": "INTERNET"}}),
        "public-firewall",
    ),
    # Clusters
    "auto provisioning": (
        cluster(
            clusterAutoscaling={
                "enabled": True,
                "autoProvisioningDefaults": {"shieldedInstanceConfig": {"enableSecureBoot": False}},
            }
        ),
        "node-hardening",
    ),
    "readonly default": (
        cluster(nodePoolDefaults={"nodeConfigDefaults": {"insecureKubeletReadonlyPortEnabled": "TRUE"}}),
        "node-hardening",
    ),
    "readonly auto": (
        cluster(nodePoolAutoConfig={"nodeKubeletConfig": {"insecureKubeletReadonlyPortEnabled": "TRUE"}}),
        "node-hardening",
    ),
    "bool as text": (cluster(enableLegacyAbac="true"), "anonymous-binding"),
    "protection as text": (cluster(deletionProtection="false"), "production-protect"),
    # Networks
    "cluster policy Accept": (
        thing(
            "ClusterNetworkPolicy",
            "policy.networking.k8s.io/v1alpha2",
            spec={"ingress": [{"action": "Accept", "from": [{"namespaces": {}}]}]},
        ),
        "network-policy-open",
    ),
    "halves of ports": (
        policy(
            egress=[
                {
                    "to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}],
                    "ports": [{"port": 1, "endPort": 32767}, {"port": 32768, "endPort": 65535}],
                }
            ]
        ),
        "network-policy-open",
    ),
    "cilium cluster": (cilium(ingress=[{"fromEntities": ["cluster"]}]), "network-policy-open"),
    "cilium ports only": (cilium(ingress=[{"toPorts": [{"ports": [{"port": "8000"}]}]}]), "network-policy-open"),
    "cilium names": (cilium(egress=[{"toFQDNs": [{"matchPattern": "*"}]}]), "network-policy-open"),
    "cilium every namespace": (
        cilium(
            ingress=[
                {
                    "fromEndpoints": [
                        {"matchExpressions": [{"key": "k8s:io.kubernetes.pod.namespace", "operator": "Exists"}]}
                    ]
                }
            ]
        ),
        "network-policy-open",
    ),
    "NAT64": (policy(egress=[{"to": [{"ipBlock": {"cidr": "64:ff9b::/96"}}]}]), "network-policy-open"),
    "admin names": (
        network("AdminNetworkPolicy", egress=[{"action": "Allow", "to": [{"domainNames": ["*.com"]}]}]),
        "network-policy-open",
    ),
    # Routes
    "parent ListenerSet": (
        route([{"kind": "ListenerSet", "group": "gateway.networking.k8s.io", "name": "l"}]),
        "route-timeouts",
    ),
    "parent XListenerSet v1beta1": (
        route([{"kind": "XListenerSet", "group": "gateway.networking.x-k8s.io", "name": "l"}], "v1beta1"),
        "route-timeouts",
    ),
    "v1alpha2 route": (route([{"name": "g"}], "v1alpha2"), "route-timeouts"),
    "inline generated": (inline(*[{"backendRefs": [HASHED]}]), "generated-service-target"),
    "inline mirror pool": (
        inline(*[{"filters": [{"type": "RequestMirror", "requestMirror": {"backendRef": OLD_POOL}}]}]),
        "inference-pool-group",
    ),
    "backend filter mirror": (
        thing(
            "HTTPRoute",
            "gateway.networking.k8s.io/v1",
            spec={
                "rules": [
                    {
                        "backendRefs": [
                            {
                                "name": "a",
                                "filters": [{"type": "RequestMirror", "requestMirror": {"backendRef": HASHED}}],
                            }
                        ]
                    }
                ]
            },
        ),
        "generated-service-target",
    ),
    # Platform
    "percent archive": (release("https://x.example/lws%2D0.7.0.tgz"), "platform-version"),
    "v4 chart": (
        Resource(
            "kubernetes:helm.sh/v4:Chart", "c", {"chart": "oci://registry.k8s.io/lws/charts/lws", "version": "0.7.0"}
        ),
        "platform-version",
    ),
    "kserve tls other case": (
        Resource(
            "kubernetes:core/v1:ConfigMap",
            "c",
            {
                "metadata": {"name": "inferenceservice-config", "namespace": "kserve"},
                "data": {"ingress": '{"EnableLLMInferenceServiceTLS": true}'},
            },
        ),
        "kserve-tls",
    ),
    "picker =0": (
        thing(
            "Deployment",
            "apps/v1",
            spec={
                "template": {
                    "spec": {
                        "containers": [
                            {
                                "name": "e",
                                "image": "x/gateway-api-inference-extension/epp:v1.4.0",
                                "args": ["--secure-serving=0"],
                            }
                        ]
                    }
                }
            },
        ),
        "endpoint-picker",
    ),
}


ADVISORY = frozenset({"network-policy-open", "node-hardening", "unreadable-manifest"})


@pytest.mark.parametrize(("resource", "rule"), ATTACKS.values(), ids=ATTACKS)
def test_an_attack_by_another_shape_is_seen(resource: Resource, rule: str, in_stack: InStack) -> None:
    in_stack("prod")
    diagnostics = of(run_pack([resource]), rule)
    assert diagnostics
    assert not any("this rule failed" in one.text or "abcdef" in one.text for one in diagnostics)
    assert rule in ADVISORY or "MANDATORY" in {one.level for one in diagnostics}


HARMLESS: dict[str, tuple[Resource, str]] = {
    "an internal class": (
        svc(type="LoadBalancer", loadBalancerClass="networking.gke.io/l4-regional-internal"),
        "public-service",
    ),
    "a firewall policy for load balancers": (
        fw("NetworkFirewallPolicyRule", **{**RULE, "match": {"srcIpRanges": ["35.191.0.0/16"]}}),
        "public-firewall",
    ),
    "a firewall policy that denies": (fw("NetworkFirewallPolicyRule", **{**RULE, "action": "deny"}), "public-firewall"),
    "a role of the same beginning": (
        google("projects/iAMMember:IAMMember", role="roles/iam.securityReviewer", member="user:a@b.c"),
        "basic-iam-role",
    ),
    "hardened auto-provisioning": (
        cluster(
            clusterAutoscaling={
                "enabled": True,
                "autoProvisioningDefaults": {
                    "serviceAccount": "nodes@p.iam.gserviceaccount.com",
                    "shieldedInstanceConfig": {"enableSecureBoot": True},
                },
            }
        ),
        "node-hardening",
    ),
    "entities inside the namespace": (
        cilium(ingress=[{"fromEndpoints": [{"matchLabels": {"a": "b"}}]}]),
        "network-policy-open",
    ),
    "a default profile": (
        thing("Pod", "v1", spec={"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}),
        "privileged-pod",
    ),
}


@pytest.mark.parametrize(("resource", "rule"), HARMLESS.values(), ids=HARMLESS)
def test_what_only_looks_like_one_is_left_alone(resource: Resource, rule: str, in_stack: InStack) -> None:
    in_stack("prod")
    assert of(run_pack([resource]), rule) == []
