"""Addresses of Gateways: reserved ones by name, others from a range."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

from llmd_common.kubernetes.fields import each, text
from localcloud.gke_gateway.resources.classes import GatewayClass
from localcloud.gke_gateway.resources.objects import full_name
from localcloud.google_api.rules import pools_view
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.values import JsonObject

EXTERNAL_RANGE, INTERNAL_RANGE = "203.0.113.", "10.0.0."
"""Prefixes of ephemeral addresses: a range for documentation (RFC 5737), and the program's own subnet."""

EPHEMERAL = 200
"""Number of ephemeral addresses in each range; they end in 50 to 249."""


def reserved(cloud: Path) -> dict[str, str]:
    """The addresses that the Google stand-in has reserved, by their resources' names. ``cloud`` is its JSON file.

    Empty where there is no file. Raises ``ValueError`` for a damaged one.
    """
    return {
        address.name: address.address for address in pools_view.addresses(CloudFile(cloud).read()) if address.address
    }


def address_of(
    gateway: JsonObject, gateway_class: GatewayClass, named: dict[str, str], taken: Collection[str] = ()
) -> str:
    """The address of a Gateway; empty where it names one that does not exist.

    ``taken``: addresses that other Gateways have, which a new one does not get while there are others.
    """
    wanted = each(gateway, "spec", "addresses")
    if wanted:
        return named.get(text(wanted[0], "value"), "") if text(wanted[0], "type") == "NamedAddress" else ""
    given = each(gateway, "status", "addresses")
    if given:
        return text(given[0], "value")
    # The same every time where it is free; the high end, since reserved ones are spread below.
    first = int(hashlib.sha256(full_name(gateway).encode()).hexdigest(), 16)
    prefix = INTERNAL_RANGE if gateway_class.internal else EXTERNAL_RANGE
    candidates = [f"{prefix}{(first + step) % EPHEMERAL + 50}" for step in range(EPHEMERAL)]
    return next((one for one in candidates if one not in taken), candidates[0])
