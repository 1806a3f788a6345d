"""Rules about who reaches the load balancer: address ranges and throttles of Cloud Armor, and IAP.

Facts: the discovery document of ``compute.v1`` (``SecurityPolicyRule``); the CRD of GCPBackendPolicy
(GoogleCloudPlatform/gke-gateway-api @fc40d606); https://cloud.google.com/armor/docs/rate-limiting-overview;
https://cloud.google.com/armor/docs/security-policy-overview (the backend's scheme must be external).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

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
            problem = "this range has host bits, or another notation"
            yield index, Finding("address-range", problem, fix=f"write {network}")
        elif any(isinstance(one, ipaddress.IPv4Network) and network.subnet_of(one) for one in wide):
            problem = "this range, or together with its neighbours, admits much of the Internet"
            allowed = f"ranges of /{addresses.NARROWEST_V4} or narrower"
            yield index, Finding("address-range", problem, allowed, "name the networks of the clients")
        elif text in seen:
            yield index, Finding("address-range", "this range is listed twice", fix="remove one")
        seen.add(text)


def range_count(count: int) -> Iterator[Finding]:
    """All ranges together fit into ten rules."""
    if count > MOST_RANGES:
        problem = f"there are {count} ranges; Cloud Armor takes {RANGES_PER_RULE} in a rule"
        yield Finding("address-range", problem, f"at most {MOST_RANGES}", "join neighbouring ranges")


def throttle(count: int) -> Iterator[Finding]:
    """A throttle's requests per minute and address are within Cloud Armor's limits."""
    if not 1 <= count <= MOST_REQUESTS_PER_MINUTE:
        problem = f"Cloud Armor cannot limit an address to {count} requests"
        yield Finding("address-throttle", problem, f"1 to {MOST_REQUESTS_PER_MINUTE}", "remove it to have no limit")


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
        problem = (
            "Cloud Armor and IAP are configured for external gateways only: an internal one is reachable from the VPC"
        )
        fix = "remove access, or set llmd-gke:gateway.exposure to external"
        yield Finding("access-gateway", problem, "an external gateway", fix)
    elif iap and not https:
        problem = "IAP answers HTTPS requests only, and its tokens must not cross the Internet in plain text"
        yield Finding("access-gateway", problem, "a gateway with HTTPS", "set llmd-gke:gateway.tls, or remove iap")


# --- objects -------------------------------------------------------------------------------------------------------


NAMES_SOMEBODY = re.compile(r"\borigin\.|\btoken\.|\brequest\.headers\b")
"""Attributes of an expression by which it may tell callers apart."""
ADMITTING = ("allow", "throttle", "rate_based_ban", "redirect")


def restricts(policy: Input, more: Sequence[Input] = ()) -> bool:
    """Whether a security policy denies what no rule allows. What is not known yet counts, and is noted.

    Rules apply in the order of their priorities: one that admits everyone, alone or together with those before it,
    leaves nothing for a denial after it. One that only throttles admits everyone, so it protects nothing. ``more``:
    rules that are resources of their own.
    """
    if isinstance(policy.get("rules").value, Unknown):
        return True
    ranges: list[str] = []
    for rule in sorted((*policy.get("rules").each(), *more), key=_priority):
        action = rule.get("action")
        if isinstance(action.value, Unknown):
            return True
        if rule.get("preview").boolean() is True:
            continue
        everyone = rule.get("priority").integer() == LAST_PRIORITY or _matches_everyone(rule)
        if (action.text() or "").startswith("deny"):
            if everyone:
                return True
            continue
        ranges += _ranges(rule)
        if everyone or addresses.everybody([one for one in ranges if one != "*"]):
            return False
    return False


def _priority(rule: Input) -> int:
    number = rule.get("priority").integer()
    return LAST_PRIORITY if number is None else number


def _ranges(rule: Input) -> list[str]:
    return [text for one in rule.get("match", "config", "srcIpRanges").each() if (text := one.text()) is not None]


def _matches_everyone(rule: Input) -> bool:
    """Whether a rule matches requests from every address, at least on some paths."""
    ranges = _ranges(rule)
    if "*" in ranges or addresses.everybody(ranges):
        return True
    expression = rule.get("match", "expr", "expression").text()
    if expression is None:
        return False
    inside = re.findall(r"(!?)\s*inIpRange\(\s*origin\.\w+\s*,\s*['\"]([^'\"]+)['\"]", expression)
    if addresses.everybody([text for negated, text in inside if not negated]):
        return True
    return NAMES_SOMEBODY.search(expression) is None


def single_rule(rule: Input) -> Iterator[Finding]:
    """A rule that is a resource of its own does not admit everyone before the rules that come after it."""
    if rule.get("action").text() == "allow" and rule.get("priority").integer() != LAST_PRIORITY:
        yield from _too_early(rule)


def _too_early(rule: Input) -> Iterator[Finding]:
    if rule.get("preview").boolean() is not True and _matches_everyone(rule):
        where = f"{rule.path}.match" if rule.path else "match"
        yield Finding(
            "address-range",
            f"{where} admits everyone: no rule with a later priority has an effect",
            allowed="address ranges of the clients",
            fix=f"name the clients' ranges, or use the priority {LAST_PRIORITY}",
        )


def policy_rules(policy: Input) -> Iterator[Finding]:
    """A security policy does what its rules seem to say: ranges are closed by the last rule, throttles are possible."""
    named = False
    for rule in policy.get("rules").each():
        ranges = _ranges(rule)
        if rule.get("priority").integer() != LAST_PRIORITY and rule.get("action").text() == "allow":
            yield from _too_early(rule)
        admits = rule.get("action").text() in ADMITTING
        if admits and ranges and "*" not in ranges:
            named = True
            for index, finding in address_ranges([one for one in ranges if ":" not in one]):
                at = f"{rule.path}.match.config.srcIpRanges[{index}]"
                yield replace(finding, problem=f"{at}: {finding.problem}")
        count = rule.get("rateLimitOptions", "rateLimitThreshold", "count")
        if (given := count.integer()) is not None:
            for finding in throttle(given):
                yield replace(finding, problem=f"{count.path}: {finding.problem}")
    if named and not restricts(policy):
        yield Finding(
            "address-range",
            "rules admit address ranges, but the last rule, or one before it, admits everyone else, too",
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
