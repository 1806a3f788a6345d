"""Rules about traces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import AddressValueError, IPv4Address
from typing import NamedTuple
from urllib.parse import urlsplit

from llmd_gke.catalog import tracing
from llmd_gke.rules import vllm_arguments
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.versions import is_older

ALLOWED = "http://SERVICE.NAMESPACE.svc.cluster.local:4317 or http://IPV4-ADDRESS:4317"


class Receiver(NamedTuple):
    """Where traces are sent: pods of ``namespace``, or else ``address``, on ``port``."""

    namespace: str | None
    address: str | None
    port: int


def receiver(endpoint: str) -> Receiver | None:
    """The receiver behind an OTLP endpoint; ``None`` for one to which NetworkPolicies cannot allow traffic."""
    try:
        parts = urlsplit(endpoint)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if parts.scheme != "http" or port is None or parts.path not in ("", "/"):
        return None
    if parts.query or parts.fragment or parts.username is not None or parts.password is not None:
        return None
    labels = host.removesuffix(".").removesuffix(".cluster.local").split(".")
    if len(labels) == 3 and labels[2] == "svc" and all(labels):
        return Receiver(labels[1], None, port)
    try:
        return Receiver(None, str(IPv4Address(host)), port)
    except AddressValueError:
        return None


def destination(endpoint: str | None, *, cloud_trace: bool) -> Iterator[Finding]:
    """Traces have exactly one receiver, which the pods can reach."""
    if (endpoint is None) != cloud_trace:
        yield Finding(
            "traces-destination",
            "no receiver for traces is set"
            if endpoint is None
            else "two receivers for traces are set, but only one is allowed",
            allowed="either endpoint or cloudTrace: true",
            fix="set cloudTrace: true for Cloud Trace, or endpoint for a collector of your own",
        )
    if endpoint is not None and receiver(endpoint) is None:
        yield Finding(
            "traces-endpoint",
            "this is not an OTLP/gRPC receiver that the pods can reach: the endpoint picker sends without TLS, and "
            "NetworkPolicies select namespaces and addresses, not host names",
            allowed=ALLOWED,
            fix="run an OpenTelemetry collector in the cluster or the VPC, which forwards the traces over TLS",
        )


def managed(version: str) -> Iterator[Finding]:
    """GKE is new enough to have a managed collector. ``version`` is the oldest that the cluster may have."""
    if is_older(version, tracing.MANAGED_SINCE):
        yield Finding(
            "traces-version",
            f"cloudTrace requires GKE {tracing.MANAGED_SINCE}, but minVersion {version} is older",
            allowed=f"cluster.minVersion {tracing.MANAGED_SINCE} or newer",
            fix="raise cluster.minVersion, or set traces.endpoint to a collector of your own",
        )


def server(arguments: Iterable[str], variables: Iterable[str]) -> Iterator[Finding]:
    """The server's arguments and variables do not also set the receiver: KServe would not overwrite them."""
    own = {one.written for one in vllm_arguments.read(arguments) if one.name in tracing.ARGUMENTS}
    own |= set(variables) & set(tracing.VARIABLES)
    if own:
        yield Finding(
            "traces-twice",
            f"{', '.join(sorted(own))} would override llmd-gke:monitoring.traces",
            allowed="monitoring.traces, or the server's own setting, but not both",
            fix="remove it from the model, or remove monitoring.traces",
        )
