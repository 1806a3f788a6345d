"""Ways around the rules by what opens a network or grants access: ranges, sources, patches of Services, members."""

from __future__ import annotations

import json

import pytest

from tests.policies.conftest import InStack
from tests.policies.registered import cluster, policy, thing
from tests.policies.support import Resource, of, output, run_pack, secret
from tests.policies.test_attacks import google
from tests.policies.test_attacks_by_shape import RULE, cilium, fw, svc

TCP = [{"protocol": "tcp"}]
EVERYTHING = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
RUN = "run.googleapis.com/invoker-iam-disabled"


def service_patch(**inputs: object) -> Resource:
    return Resource("kubernetes:core/v1:ServicePatch", "s", dict(inputs))


def from_ranges(*ranges: object) -> Resource:
    return fw("Firewall", allows=TCP, sourceRanges=[*ranges])


def matching(**match: object) -> Resource:
    return fw("NetworkFirewallPolicyRule", **{**RULE, "match": match})


def listener(protocol: str) -> Resource:
    spec = {
        "gatewayClassName": "gke-l7-regional-external-managed",
        "listeners": [{"name": "a", "protocol": protocol, "port": 80}],
    }
    return thing("Gateway", "gateway.networking.k8s.io/v1", spec=spec)


def connector(kind: str, group: str, **spec: object) -> Resource:
    return thing(kind, f"{group}.cnrm.cloud.google.com/v1beta1", spec=spec)


def upbound(kind: str, group: str, **parameters: object) -> Resource:
    return thing(kind, f"{group}.gcp.upbound.io/v1beta1", spec={"forProvider": parameters})


def role(name: str, *, patch: bool = False) -> Resource:
    kind = "ClusterRolePatch" if patch else "ClusterRole"
    return Resource(
        f"kubernetes:rbac.authorization.k8s.io/v1:{kind}", "r", {"metadata": {"name": name}, "rules": EVERYTHING}
    )


OWNER = json.dumps({"bindings": [{"role": "roles/owner", "members": ["user:a@example.com"]}]})
ATTACKS: dict[str, tuple[Resource, str]] = {
    # Ranges
    "6to4": (from_ranges("2002::/16"), "public-firewall"),
    "half of 6to4 and half of IPv4": (from_ranges("2002::/17", "128.0.0.0/1"), "public-firewall"),
    "leading zeros": (from_ranges("000.000.000.000/0"), "public-firewall"),
    "a short form": (from_ranges("0/0"), "public-firewall"),
    "IPv6 with a zone": (from_ranges("::%eth0/0"), "public-firewall"),
    "null for a range": (from_ranges(None), "public-firewall"),
    "an empty range": (from_ranges(""), "public-firewall"),
    "an empty tag": (fw("Firewall", allows=TCP, sourceTags=[""]), "public-firewall"),
    "a secret rule": (fw("Firewall", allows=secret(TCP), sourceRanges=secret(["0.0.0.0/0"])), "public-firewall"),
    "an output": (fw("Firewall", allows=TCP, sourceRanges=output([output("0.0.0.0/0")])), "public-firewall"),
    "countries": (matching(srcRegionCodes=["US", "DE"]), "public-firewall"),
    "lists of clouds": (matching(srcThreatIntelligences=["iplist-public-clouds"]), "public-firewall"),
    "null in a policy": (matching(srcIpRanges=[None]), "public-firewall"),
    "no range in a policy": (matching(srcIpRanges=["0/0"]), "public-firewall"),
    "Config Connector's firewall": (
        connector("ComputeFirewall", "compute", allow=TCP, sourceRanges=["0.0.0.0/0"]),
        "public-firewall",
    ),
    "Crossplane's firewall": (
        upbound("Firewall", "compute", allow=TCP, sourceRanges=["0.0.0.0/0"]),
        "public-firewall",
    ),
    "no range for a control plane": (
        cluster(masterAuthorizedNetworksConfig={"cidrBlocks": [{"cidrBlock": "2002::/16"}]}),
        "production-control-plane",
    ),
    "no range of a peer": (policy(ingress=[{"from": [{"ipBlock": {"cidr": "000.0.0.0/0"}}]}]), "network-policy-open"),
    "6to4 of a peer": (policy(ingress=[{"from": [{"ipBlock": {"cidr": "2002::/16"}}]}]), "network-policy-open"),
    "no default deny": (
        cilium(enableDefaultDeny={"ingress": False}, ingress=[{"fromEndpoints": [{"matchLabels": {"a": "b"}}]}]),
        "network-policy-open",
    ),
    # Services and Gateways
    "a patch of an annotation": (
        service_patch(metadata={"name": "x", "annotations": {"networking.gke.io/load-balancer-type": "External"}}),
        "public-service",
    ),
    "a patch of a class": (
        service_patch(spec={"loadBalancerClass": "networking.gke.io/l4-regional-external"}),
        "public-service",
    ),
    "source ranges that are none": (
        svc(type="LoadBalancer", loadBalancerSourceRanges=["000.0.0.0/0"]),
        "public-service",
    ),
    "one source range that is none": (
        svc(type="LoadBalancer", loadBalancerSourceRanges=["10.0.0.0/8", "0/0"]),
        "public-service",
    ),
    "secret addresses": (svc(externalIPs=secret(["192.0.2.1"])), "public-service"),
    "HTTP in small letters": (listener("http"), "production-https"),
    "a protocol of a vendor": (listener("example.com/h2c"), "production-https"),
    # Roles of a cluster
    "a role that everybody has": (role("system:discovery"), "anonymous-binding"),
    "a patch of a role that everybody has": (role("system:public-info-viewer", patch=True), "anonymous-binding"),
    "a patch of a binding": (
        Resource(
            "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBindingPatch",
            "b",
            {"metadata": {"name": "x"}, "subjects": [{"kind": "Group", "name": "system:authenticated"}]},
        ),
        "anonymous-binding",
    ),
    "anonymous requests": (cluster(anonymousAuthenticationConfig={"mode": "ENABLED"}), "anonymous-binding"),
    # Members and roles of Google Cloud
    "Config Connector's access list": (
        connector("StorageBucketAccessControl", "storage", entity="allUsers", role="READER"),
        "public-iam-member",
    ),
    "Config Connector's data set": (
        connector("BigQueryDataset", "bigquery", access=[{"specialGroup": "allAuthenticatedUsers"}]),
        "public-iam-member",
    ),
    "Crossplane's member": (
        upbound("ProjectIAMMember", "cloudplatform", member="allUsers", role="roles/viewer"),
        "public-iam-member",
    ),
    "Crossplane's owner": (
        upbound("ProjectIAMMember", "cloudplatform", member="user:a@example.com", role="roles/owner"),
        "basic-iam-role",
    ),
    "Cloud Run by annotation": (
        google("cloudrun/service:Service", metadata={"annotations": {RUN: "true"}}),
        "public-iam-member",
    ),
    "Cloud Run's switch as text": (
        google("cloudrunv2/service:Service", invokerIamDisabled="true"),
        "public-iam-member",
    ),
    "access to new objects": (
        google("storage/defaultObjectACL:DefaultObjectACL", roleEntities=["READER:allUsers"]),
        "public-iam-member",
    ),
    "access to a data set": (
        google("bigquery/datasetAccess:DatasetAccess", iamMember="allUsers", role="READER"),
        "public-iam-member",
    ),
    "everybody at times": (
        google("privilegedaccessmanager/entitlement:entitlement", eligibleUsers=[{"principals": ["allUsers"]}]),
        "public-iam-member",
    ),
    "owner at times": (
        google(
            "privilegedaccessmanager/entitlement:entitlement",
            privilegedAccess={"gcpIamAccess": {"roleBindings": [{"role": "roles/owner"}]}},
        ),
        "basic-iam-role",
    ),
    "the policy of a folder as output": (
        google("folder/iAMPolicy:IAMPolicy", policyData=output(OWNER)),
        "basic-iam-role",
    ),
    "an identity pool for an account": (
        google(
            "serviceaccount/iAMBinding:IAMBinding",
            members=["principalSet://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/*"],
        ),
        "public-iam-member",
    ),
}


@pytest.mark.parametrize(("resource", "rule"), ATTACKS.values(), ids=ATTACKS)
def test_an_attack_on_google_cloud_is_seen(resource: Resource, rule: str, in_stack: InStack) -> None:
    in_stack("prod")
    diagnostics = of(run_pack([resource]), rule)
    assert diagnostics
    assert not any("this rule failed" in one.text for one in diagnostics)
    assert rule == "network-policy-open" or "MANDATORY" in {one.level for one in diagnostics}


HARMLESS: dict[str, tuple[Resource, str]] = {
    "owner is taken away": (
        google("projects/iAMMemberRemove:IAMMemberRemove", role="roles/owner", member="user:a@example.com"),
        "basic-iam-role",
    ),
    "everybody is taken away": (
        google("projects/iAMMemberRemove:IAMMemberRemove", role="roles/viewer", member="allUsers"),
        "public-iam-member",
    ),
    "6to4 of one network": (from_ranges("2002:c000:0200::/40"), "public-firewall"),
    "one address": (from_ranges("192.0.2.7"), "public-firewall"),
    "names of hosts in a policy": (matching(srcFqdns=["runner.example.com"]), "public-firewall"),
    "countries that are narrowed": (matching(srcRegionCodes=["DE"], srcIpRanges=["192.0.2.0/24"]), "public-firewall"),
    "a firewall of Config Connector for an office": (
        connector("ComputeFirewall", "compute", allow=TCP, sourceRanges=["192.0.2.0/24"]),
        "public-firewall",
    ),
    "a patch to an internal balancer": (
        service_patch(metadata={"name": "x", "annotations": {"networking.gke.io/load-balancer-type": "Internal"}}),
        "public-service",
    ),
    "TLS that is passed through": (listener("TLS"), "production-https"),
    "a role of one's own": (role("reader"), "anonymous-binding"),
    "limited anonymous requests": (cluster(anonymousAuthenticationConfig={"mode": "LIMITED"}), "anonymous-binding"),
    "a switch that is off": (
        google("cloudrun/service:Service", metadata={"annotations": {RUN: "false"}}),
        "public-iam-member",
    ),
    "default deny": (
        cilium(enableDefaultDeny={"ingress": True}, ingress=[{"fromEndpoints": [{"matchLabels": {"a": "b"}}]}]),
        "network-policy-open",
    ),
}


@pytest.mark.parametrize(("resource", "rule"), HARMLESS.values(), ids=HARMLESS)
def test_what_names_somebody_is_left_alone(resource: Resource, rule: str, in_stack: InStack) -> None:
    in_stack("prod")
    assert of(run_pack([resource]), rule) == []
