"""Gateways that do not authenticate callers."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.rules import cloud_armor, open_gateway
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Unknown
from policies.rules.backends import aimed_at
from policies.rules.kinds import ARMOR, ARMOR_RULE, BACKEND_POLICY, ENVOY_PROXY, GATEWAY, GATEWAY_CLASS, SECURITY_POLICY
from policies.rules.reach import KINDS, Reach
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, Subject, by_kind, on_spec

FIX = (
    "put the models behind a front door, attach a GCPBackendPolicy with iap or securityPolicy to the backend, or set "
    f"the annotation {open_gateway.OPEN_ANNOTATION}: 'true' on the Gateway if this is meant"
)


def _open(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    reach = Reach(program)
    throttles = {
        name
        for policy in program.of(*ARMOR)
        if (name := policy.node.get("name").text()) is not None
        and not cloud_armor.restricts(policy.node, _more_rules(program, policy))
    }
    guarded = {
        target
        for policy in program.of(BACKEND_POLICY)
        if open_gateway.guards_backend(policy.spec, throttles) and (target := aimed_at(policy)) is not None
    }
    ways = [way for way in reach.ways() if not way.kept]
    for gateway in program.of(GATEWAY):
        identity = gateway.identity
        if gateway.partial or identity is None or not reach.faces_the_internet(gateway):
            continue
        asks = ("Gateway", identity) in reach.asking
        of_gke = open_gateway.faces_the_internet(gateway.node)
        for certain in (True, False):
            open_ways = [
                way
                for way in ways
                if (identity if certain else None) in way.gateways
                and not (guarded >= way.answering if of_gke else asks or reach.asks(way.route))
            ]
            findings: list[Finding] = list(
                open_gateway.open_gateway(
                    external=bool(open_ways), guarded=False, meant=open_gateway.is_meant(gateway.node), fix=FIX
                )
            )
            if findings:
                doubt = f"the listeners that {open_ways[0].route.label} names are not in this program"
                yield StackFinding(gateway, findings[0], "" if certain else doubt)
                break


def _more_rules(program: Program, policy: Subject) -> list[Input]:
    """Rules of a security policy that are resources of their own; those whose policy is not known yet count."""
    name = policy.node.get("name").text() or "/"
    rules = ((rule.node, rule.node.get("securityPolicy")) for rule in program.of(*ARMOR_RULE))
    return [rule for rule, owner in rules if isinstance(owner.value, Unknown) or (owner.text() or "").endswith(name)]


OPEN = Rule(
    name="open-gateway",
    title="External Gateways authenticate callers",
    why=(
        "A model server answers everyone who can reach it, and TPU hosts are billed by the hour: scanners find an "
        "open endpoint within hours and use it. The rule follows every way from a Gateway with a public address to "
        "the servers: routes of each kind, mirrors, inline routes of services, ListenerSets, Services, pools, the "
        "front door."
    ),
    sources=(
        "https://docs.vllm.ai/en/latest/usage/security.html",
        "https://cloud.google.com/kubernetes-engine/docs/how-to/configure-gateway-resources",
    ),
    kinds=(GATEWAY, GATEWAY_CLASS, ENVOY_PROXY, *KINDS, BACKEND_POLICY, SECURITY_POLICY, *ARMOR, *ARMOR_RULE),
    check_program=_open,
    severity="critical",
    opt_out=f"The setting `gateway.open` allows an open gateway explicitly: it sets the annotation "
    f"`{open_gateway.OPEN_ANNOTATION}` on the Gateway.",
)

ARMOR_RULES = Rule(
    name="cloud-armor-rules",
    title="Security policies of Cloud Armor deny what they do not name",
    why=(
        "Rules that admit address ranges have no effect while the last rule, which every policy has, admits everyone: "
        "that is its action unless the policy says otherwise. Cloud Armor rejects a throttle of 0 or of more than "
        f"{cloud_armor.MOST_REQUESTS_PER_MINUTE:,} requests."
    ),
    sources=(
        "https://cloud.google.com/armor/docs/security-policy-overview",
        "https://cloud.google.com/armor/docs/rate-limiting-overview",
    ),
    kinds=(*ARMOR, *ARMOR_RULE),
    check_object=by_kind(
        {**dict.fromkeys(ARMOR, cloud_armor.policy_rules), **dict.fromkeys(ARMOR_RULE, cloud_armor.single_rule)}
    ),
)

IAP_CLIENT = Rule(
    name="iap-client",
    title="IAP has an OAuth client",
    why=(
        "GKE's Gateway takes IAP with an OAuth client of your own only; without clientID and oauth2ClientSecret the "
        "policy is not attached, and the backend is as open as before."
    ),
    sources=(
        "https://cloud.google.com/kubernetes-engine/docs/how-to/configure-gateway-resources#configure_iap",
        "https://github.com/GoogleCloudPlatform/gke-gateway-api/blob/main/apis/networking/v1/gcpbackendpolicy_types.go",
        "https://github.com/GoogleCloudPlatform/gke-gateway-api/issues/57",
    ),
    kinds=(BACKEND_POLICY,),
    check_object=on_spec(cloud_armor.backend_iap),
)
