"""What istio-cni does for a pod with a sidecar: its rules, by which what comes in goes to the sidecar first.

Those of istio/istio @eed52ebb ``tools/istio-nftables/pkg/capture/run.go`` for a mesh that redirects nothing that a pod
sends. Rules that ask for the sender's user are left out: all processes of the laptop cloud have one.
"""

from __future__ import annotations

import socket
import struct
from typing import Any

from pyroute2.nftables import expressions  # pyright: ignore[reportMissingTypeStubs] - it has none
from pyroute2.nftables.main import NFTables  # pyright: ignore[reportMissingTypeStubs]

from llmd_common.kubernetes.fields import Object, each, part

nft: Any = expressions
INBOUND = 15006
OWN_PORTS = (15008, 15020, 15021, 15090)
"""Ports of the sidecar itself: tunnel, probes and metrics of all containers, readiness, Envoy's metrics."""
PROBED = "127.0.0.6"
"""Where the init container ``istio-validation`` looks for the rules."""
TABLE, ENTRY, EXIT = "istio", "prerouting", "output"
BEFORE_OTHERS, RETURN, PROTOCOL, TRANSPORT = -100, -5, 16, 2
"""Priority ``dstnat``, verdict, meta key ``l4proto``, header (``linux/netfilter/nf_tables.h``)."""


def is_injected(pod: Object) -> bool:
    """Whether a pod has a sidecar, and no container of its own that redirects."""
    names = [one["name"] for one in each(pod, "spec", "initContainers")]
    return "sidecar.istio.io/status" in part(pod, "metadata", "annotations") and "istio-init" not in names


def redirect() -> None:
    """Sets the rules in the calling thread's network. Raises ``OSError`` where the kernel has no nftables."""
    with NFTables() as rules:
        rules.table("add", name=TABLE)
        for hook in (ENTRY, EXIT):
            rules.chain("add", table=TABLE, name=hook, hook=hook, type="nat", priority=BEFORE_OTHERS, policy=1)
        for own in OWN_PORTS:
            rules.rule("add", table=TABLE, chain=ENTRY, expressions=(_tcp(own), nft.verdict(code=RETURN)))
        to_sidecar: Any = [
            nft.genex("immediate", {"dreg": 1, "data": _port(INBOUND)}),
            nft.genex("redir", {"reg_proto_min": 1}),
        ]
        rules.rule("add", table=TABLE, chain=ENTRY, expressions=(_tcp(), to_sidecar))
        rules.rule("add", table=TABLE, chain=EXIT, expressions=(nft.ipv4addr(dst=PROBED), _tcp(), to_sidecar))


def _tcp(port: int | None = None) -> list[Any]:
    protocol = {"attrs": [("NFTA_DATA_VALUE", bytes([socket.IPPROTO_TCP]))]}
    found: list[Any] = [
        nft.genex("meta", {"dreg": 1, "key": PROTOCOL}),
        nft.genex("cmp", {"sreg": 1, "op": 0, "data": protocol}),
    ]
    if port is not None:
        found.append(nft.genex("payload", {"dreg": 1, "base": TRANSPORT, "offset": 2, "len": 2}))
        found.append(nft.genex("cmp", {"sreg": 1, "op": 0, "data": _port(port)}))
    return found


def _port(number: int) -> dict[str, Any]:
    return {"attrs": [("NFTA_DATA_VALUE", struct.pack("!H", number))]}
