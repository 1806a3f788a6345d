"""Rules about who reaches the load balancer: address ranges and throttles of Cloud Armor, and IAP.

Facts: the discovery document of ``compute.v1`` (``SecurityPolicyRule``); the CRD of GCPBackendPolicy
(GoogleCloudPlatform/gke-gateway-api @fc40d606); https://cloud.google.com/armor/docs/rate-limiting-overview;
https://cloud.google.com/armor/docs/security-policy-overview (the backend's scheme must be external).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence

from llmd_gke.rules import addresses
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Unknown

LAST_PRIORITY = 2147483647
"""Priority of the rule that decides about every request that no other rule matches."""
RANGES_PER_RULE = 10
MOST_RANGES = 100
"""Ten rules: each costs as much as the next, and a project may have only some hundreds."""
MOST_REQUESTS_PER_MINUTE = 1_000_000
INTERVAL_SECONDS = 60
"""The throttle counts requests per minute."""

CLIENT_ID = re.compile(r"[0-9]+-[a-z0-9]+\.apps\.googleusercontent\.com")


def address_ranges(ranges: Sequence[str]) -> Iterator[tuple[int, Finding]]:
    """Findings about the ranges that may call, each with the range's position."""
    wide = [ipaddress.ip_network(one) for one in addresses.everybody(ranges)]
    seen: set[str] = set()
    for index, text in enumerate(ranges):
        network = addresses.parse(text)
        if network is None or "/" not in text:
            problem = "this is not an address range in CIDR notation"
            yield index, Finding("address-range", problem, "IPv4 ranges", "for example 203.0.113.0/24")
        elif isinstance(network, ipaddress.IPv6Network):
            problem = "the gateway's address is IPv4, so no request comes from this range"
            yield index, Finding("address-range", problem, "IPv4 ranges", "remove it")
        elif str(network) != text:
            yield (
                index,
                Finding("address-range", "this range has host bits, or another notation", fix=f"write {network}"),
            )
        elif any(isinstance(one, ipaddress.IPv4Network) and network.subnet_of(one) for one in wide):
            yield (
                index,
                Finding(
                    "address-range",
                    "this range, or together with its neighbours, admits much of the Internet",
                    allowed=f"ranges of /{addresses.NARROWEST_V4} or narrower",
                    fix="name the networks of the clients",
                ),
            )
        elif text in seen:
            yield index, Finding("address-range", "this range is listed twice", fix="remove one")
        seen.add(text)


def range_count(count: int) -> Iterator[Finding]:
    """All ranges together fit into ten rules."""
    if count > MOST_RANGES:
        yield Finding(
            "address-range",
            f"there are {count} ranges; Cloud Armor takes {RANGES_PER_RULE} in a rule",
            allowed=f"at most {MOST_RANGES}",
            fix="join neighbouring ranges",
        )


def throttle(count: int) -> Iterator[Finding]:
    """A throttle's requests per minute and address are within Cloud Armor's limits."""
    if not 1 <= count <= MOST_REQUESTS_PER_MINUTE:
        yield Finding(
            "address-throttle",
            f"Cloud Armor cannot limit an address to {count} requests",
            allowed=f"1 to {MOST_REQUESTS_PER_MINUTE}",
            fix="remove it to have no limit",
        )


def client_id(text: str) -> Iterator[Finding]:
    """The id of an OAuth client, not its secret or its name."""
    if CLIENT_ID.fullmatch(text) is None:
        yield Finding(
            "iap-client",
            "this is not the id of an OAuth client",
            allowed="NUMBER-LETTERS.apps.googleusercontent.com",
            fix="copy the client ID from https://console.cloud.google.com/apis/credentials; its secret is "
            "llmd-gke:iapClientSecret",
        )


def supported(*, external: bool, https: bool, iap: bool) -> Iterator[Finding]:
    """The gateway can have Cloud Armor and IAP: it is external, and IAP has HTTPS."""
    if not external:
        yield Finding(
            "access-gateway",
            "Cloud Armor and IAP are configured for external gateways only: an internal gateway is reachable from the "
            "VPC alone",
            allowed="an external gateway",
            fix="remove access, or set llmd-gke:gateway.exposure to external",
        )
    elif iap and not https:
        yield Finding(
            "access-gateway",
            "IAP answers HTTPS requests only, and its tokens must not cross the Internet in plain text",
            allowed="a gateway with HTTPS",
            fix="set llmd-gke:gateway.tls, or remove iap",
        )


# --- objects -------------------------------------------------------------------------------------------------------


def restricts(policy: Input) -> bool:
    """Whether a security policy denies what no rule allows. What is not known yet counts, and is noted.

    One that only throttles admits everyone, so it is no protection.
    """
    rules = policy.get("rules")
    if isinstance(rules.value, Unknown):
        return True
    for rule in rules.each():
        if rule.get("priority").integer() == LAST_PRIORITY:
            action = rule.get("action")
            return isinstance(action.value, Unknown) or (action.text() or "").startswith("deny")
    return False


def policy_rules(policy: Input) -> Iterator[Finding]:
    """A security policy does what its rules seem to say: ranges are closed by the last rule, throttles are possible."""
    named = False
    for rule in policy.get("rules").each():
        ranges = [text for one in rule.get("match", "config", "srcIpRanges").each() if (text := one.text()) is not None]
        admits = (rule.get("action").text() or "") in {"allow", "throttle"}
        if admits and ranges and "*" not in ranges:
            named = True
            for index, finding in address_ranges([one for one in ranges if ":" not in one]):
                yield Finding(
                    finding.rule,
                    f"{rule.path}.match.config.srcIpRanges[{index}]: {finding.problem}",
                    finding.allowed,
                    finding.fix,
                )
        count = rule.get("rateLimitOptions", "rateLimitThreshold", "count")
        if (given := count.integer()) is not None:
            for finding in throttle(given):
                yield Finding(finding.rule, f"{count.path}: {finding.problem}", finding.allowed, finding.fix)
    if named and not restricts(policy):
        yield Finding(
            "address-range",
            "rules admit address ranges, but the last rule admits everyone else, too",
            allowed=f"a rule with priority {LAST_PRIORITY} and an action deny(…)",
            fix=f"set the action of the rule with priority {LAST_PRIORITY} to deny(403)",
        )


def backend_iap(policy_spec: Input) -> Iterator[Finding]:
    """IAP of a GCPBackendPolicy has an OAuth client: GKE's controller takes no other, unlike that of Ingress."""
    iap = policy_spec.get("default", "iap")
    if iap.get("enabled").boolean() is not True:
        return
    for path in (("clientID",), ("oauth2ClientSecret", "name")):
        field = iap.get(*path)
        if not isinstance(field.value, Unknown) and not field.text():
            yield Finding(
                "iap-client",
                f"{field.path} is empty: GKE does not enable IAP without an OAuth client of your own",
                allowed="clientID, and oauth2ClientSecret.name of a Secret with the entry `key` in the same namespace",
                fix=f"set {field.path}",
            )
