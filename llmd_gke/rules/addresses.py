"""Address ranges that admit everyone, in any notation."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

NARROWEST_V4 = 8
"""The largest private range is a /8: a shorter prefix includes public addresses."""

NARROWEST_V6 = 16
"""The widest range of a single organisation: providers get /19 and longer prefixes."""

MAPPED_V4 = ipaddress.IPv6Network("::ffff:0:0/96")
"""IPv4 inside IPv6."""


SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")
"""The IPv4 Internet as IPv6 prefixes: the address is in the bits after the first 16 (RFC 3056)."""

NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""The IPv4 Internet as IPv6 hosts reach it (RFC 6052)."""


INTERNAL_V4 = tuple(
    ipaddress.IPv4Network(text)
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24",
                 "198.18.0.0/15", "240.0.0.0/4")
)  # fmt: skip
"""IPv4 ranges of which nothing is on the Internet and that a VPC may have
(https://cloud.google.com/vpc/docs/subnets#valid-ranges), without those of documentation, which nobody has."""


def parse(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """A range as Google and Kubernetes read it, also with host bits, netmask or spaces; ``None`` for other text."""
    try:
        network = ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        return None
    if isinstance(network, ipaddress.IPv6Network) and (network.subnet_of(MAPPED_V4) or network.subnet_of(NAT64)):
        mapped = ipaddress.IPv4Address(int(network.network_address) & 0xFFFFFFFF)
        return ipaddress.ip_network((mapped, network.prefixlen - MAPPED_V4.prefixlen), strict=False)
    if isinstance(network, ipaddress.IPv6Network) and network.subnet_of(SIX_TO_FOUR) and network.prefixlen <= 48:
        inside = ipaddress.IPv4Address(int(network.network_address) >> 80 & 0xFFFFFFFF)
        return ipaddress.ip_network((inside, network.prefixlen - SIX_TO_FOUR.prefixlen), strict=False)
    return network


def unreadable(ranges: Iterable[str]) -> list[str]:
    """Texts that are not address ranges."""
    return [text for text in ranges if parse(text) is None]


def not_internal(ranges: Iterable[str]) -> list[str]:
    """The ranges that are not inside of one of :data:`INTERNAL_V4`. IPv6 and unreadable ones are left out."""
    return [
        text
        for text in ranges
        if isinstance(network := parse(text), ipaddress.IPv4Network)
        and not any(network.subnet_of(internal) for internal in INTERNAL_V4)
    ]


def everybody(ranges: Iterable[str]) -> list[str]:
    """The parts of these ranges, taken together, that are too wide to limit access: prefixes shorter than /8, or /16
    for IPv6.

    Neighbours are joined first: ``0.0.0.0/1`` and ``128.0.0.0/1`` cover every address, and so do 256 ranges of /8.
    """
    networks = [network for text in ranges if (network := parse(text)) is not None]
    joined = [
        *ipaddress.collapse_addresses(one for one in networks if one.version == 4),
        *ipaddress.collapse_addresses(one for one in networks if one.version == 6),
    ]
    return [str(one) for one in joined if one.prefixlen < (NARROWEST_V4 if one.version == 4 else NARROWEST_V6)]


def not_naming(ranges: Iterable[str]) -> list[str]:
    """The ranges that do not limit access: :func:`everybody`'s, and invalid ones, which may be read as everyone."""
    ranges = list(ranges)
    return [*everybody(ranges), *unreadable(ranges)]
