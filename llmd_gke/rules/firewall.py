"""Rules about firewalls: which sources may reach a VPC.

Sources: https://cloud.google.com/firewall/docs/firewalls, https://cloud.google.com/firewall/docs/firewall-policies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from llmd_gke.gateways import gke
from llmd_gke.rules import addresses
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Unknown

SOURCES = ("sourceRanges", "sourceTags", "sourceServiceAccounts")
POLICY_SOURCES = ("srcIpRanges", "srcAddressGroups", "srcFqdns", "srcSecureTags")
"""Fields of a policy's rule that limit its sources. Countries and lists of clouds are too much of the Internet."""


RANGES_ALIASES = {"srcIpRanges": "srcIPRanges"}
"""Config Connector's spelling."""


def sections(node: Input) -> Iterator[Input]:
    """Where a resource or an object of Config Connector or Crossplane has its fields. Crossplane's first values
    (``initProvider``) apply where ``forProvider`` has none.
    """
    yield node
    spec = node.get("spec")
    yield spec
    first, lasting = spec.get("initProvider"), spec.get("forProvider")
    if first.value is None:
        yield lasting
    else:
        yield Input({**first.mapping(), **lasting.mapping()}, lasting.path, node.notes)


def rule(node: Input) -> Iterator[Finding]:
    """A firewall rule that allows ingress limits its sources. Also as an object of Config Connector or Crossplane."""
    for section in sections(node):
        allows = [*section.get("allows").each(), *section.get("allow").each()]
        if allows and section.get("direction").text() != "EGRESS" and section.get("disabled").boolean() is not True:
            yield from _sources(section, SOURCES, "sourceRanges")


def policy(node: Input) -> Iterator[Finding]:
    """A rule of a firewall policy that allows ingress limits its sources, as in :func:`rule`."""
    for one in (one for section in sections(node) for one in _rules(section)):
        action, direction = (one.get("action").text() or "").lower(), one.get("direction").text()
        if not action.startswith(("allow", "apply")) or direction == "EGRESS" or one.get("disabled").boolean() is True:
            continue
        match = one.get("match")
        if not isinstance(match.value, Mapping | Unknown):  # Crossplane's lists of one map
            match = next(match.each(), match)
        if match.get("config").value is not None:  # the older policies of organizations
            match = match.get("config")
        if (match.get("srcNetworkScope").text() or match.get("srcNetworkType").text()) in (None, "INTERNET"):
            yield from _sources(match, POLICY_SOURCES, "srcIpRanges")


def _rules(section: Input) -> list[Input]:
    return [section] if section.get("match").value is not None else list(section.get("rules").each())


def _sources(section: Input, keys: tuple[str, ...], ranges: str) -> Iterator[Finding]:
    alias = RANGES_ALIASES.get(ranges, ranges)
    ranges, keys = (alias, (*keys, alias)) if section.get(ranges).value is None else (ranges, keys)
    written = [text for entry in section.get(ranges).each() if (text := entry.text())]
    wide = addresses.not_naming(written)
    if wide or not any(_names_somebody(section.get(key)) for key in keys):
        where = f"{section.path}.{ranges}" if section.path else ranges
        yield Finding(
            "public-firewall",
            f"{where} {', '.join(wide) or 'is missing, which means any source'}: the Internet may reach the VPC",
            allowed="limited source ranges, tags, address groups or service accounts",
            fix=f"list only the sources that need access: Google's load balancers need "
            f"{' and '.join(sorted(gke.HEALTH_CHECK_RANGES))} only",
        )


def _names_somebody(entries: Input) -> bool:
    """Whether a list has an entry. One that is not known yet counts as limited: it comes from another resource."""
    if isinstance(entries.value, Unknown):
        return True
    return any(entry.value for entry in entries.each())
