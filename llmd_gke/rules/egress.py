"""Rules about what model pods may reach outside the cluster.

Sources: https://cloud.google.com/kubernetes-engine/docs/how-to/fqdn-network-policies (names, patterns, what a cluster
needs); https://cloud.google.com/kubernetes-engine/docs/concepts/cloud-storage-fuse-csi-driver (the sidecar).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from urllib.parse import SplitResult, urlsplit

from llmd_gke.rules import addresses, names, vllm_arguments
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input

NAME = re.compile(r"(\*\.)?([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


def name(value: str) -> Iterator[Finding]:
    """A host's full name, or ``*.`` and a domain, which matches exactly one label."""
    if not NAME.fullmatch(value) or len(value) > 253:
        yield Finding(
            "egress-name",
            f"{value!r} is not a host name that an FQDNNetworkPolicy can allow",
            allowed="a host such as models.example.com, or *.example.com for every host directly below example.com",
            fix="write the host's full name in lower case, without scheme, port and path",
        )


def proxy(value: str) -> Iterator[Finding]:
    """``http://ADDRESS:PORT``. The value may contain a password: it is never repeated."""
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        parts, port = SplitResult("", "", "", "", ""), None
    if parts.username is not None or parts.password is not None:
        yield Finding(
            "egress-proxy",
            "the proxy's URL contains a user or a password, which anyone who can read the pod would see",
            allowed="http://ADDRESS:PORT",
            fix="remove the credentials, and allow the cluster's address ranges on the proxy instead",
        )
    elif parts.scheme != "http" or port is None or not _address(parts.hostname) or parts.path not in ("", "/"):
        yield Finding(
            "egress-proxy",
            "this is not a proxy address that a NetworkPolicy can allow: it must be an IPv4 address",
            allowed="http://ADDRESS:PORT, such as http://10.1.2.3:3128 (downloads stay encrypted: the proxy only "
            "tunnels them)",
            fix="write the proxy's IPv4 address and port",
        )


def _address(host: str | None) -> bool:
    try:
        return host is not None and ipaddress.ip_address(host).version == 4
    except ValueError:
        return False


def combination(mode: str, names: Sequence[str], proxy: bool, exceptions: Sequence[str]) -> Iterator[Finding]:
    """Names are set only in mode ``names``, a proxy only in mode ``proxy``."""
    if names and mode != "names":
        yield _unfit(f"names with mode {mode}: they would have no effect", "mode: names", "remove names")
    if mode == "proxy" and not proxy:
        yield _unfit("mode proxy requires the setting proxy", "proxy: http://ADDRESS:PORT", "set proxy")
    if proxy and mode != "proxy":
        yield _unfit(f"proxy with mode {mode}: it would have no effect", "mode: proxy", "remove proxy")
    if exceptions and mode != "proxy":
        yield _unfit(f"noProxy with mode {mode}: there is no proxy", "mode: proxy", "remove noProxy")


def control_plane(mode: str, private_nodes: bool) -> Iterator[Finding]:
    """The endpoint picker watches its pods through the API server, whose address may be public if nodes have public
    addresses.

    Mode ``open`` covers every address; the other modes open private ranges only.
    """
    if mode != "open" and not private_nodes:
        yield _unfit(
            f"mode {mode} requires private nodes: otherwise the endpoint picker might not reach the control plane",
            "cluster.privateNodes: true, or mode: open",
            "remove cluster.privateNodes (the default is true)",
        )


def _unfit(problem: str, allowed: str, fix: str) -> Finding:
    return Finding("egress-combination", problem, allowed, fix)


def bucket(uri: str, mode: str) -> Iterator[Finding]:
    """No bucket is mounted in mode ``proxy``: Cloud Storage FUSE's container is GKE's, and cannot be given a proxy."""
    if mode == "proxy" and uri.startswith("gs://"):
        yield Finding(
            "egress-bucket",
            f"{uri} is mounted by Cloud Storage FUSE, which does not use a proxy: the pod would wait forever",
            allowed="hf:// or s3:// (through the proxy), pvc:// or oci:// (no proxy needed), or mode: names",
            fix="set llmd-gke:network.egress.mode to names, which allows storage.googleapis.com",
        )


def range_(value: str) -> Iterator[Finding]:
    """A range of addresses inside the VPC or behind it."""
    findings = list(names.cidr(value))
    yield from findings
    if not findings and addresses.everybody([value]):
        yield Finding(
            "egress-range",
            f"{value} covers a large part of the IPv4 address space",
            allowed=f"/{addresses.NARROWEST_V4} or narrower",
            fix="set the mirror's own range, or use mode: open",
        )


def trusts_remote_code(arguments: Sequence[str]) -> bool:
    """Whether the server runs Python code that comes with the weights."""
    read = vllm_arguments.read(arguments)
    return any(one.name == vllm_arguments.TRUST_REMOTE_CODE and one.value != "false" for one in read)


def remote_code(arguments: Sequence[str], mode: str) -> Iterator[Finding]:
    """Code from a model's repository runs only where it cannot send data to arbitrary hosts."""
    if mode == "open" and trusts_remote_code(arguments):
        yield Finding(
            "remote-code",
            "--trust-remote-code runs code from the model's repository in a pod that can reach every public address",
            allowed="llmd-gke:network.egress.mode names or proxy",
            fix="restrict egress (docs/network.md), and pin the revision: hf://OWNER/NAME:COMMIT",
            severity="warning",
        )


def ready_for_names(cluster: Input) -> Iterator[Finding]:
    """FQDNNetworkPolicy needs Dataplane V2 and an option of its own; without them the kind does not exist."""
    data_plane, switch = cluster.get("datapathProvider"), cluster.get("enableFqdnNetworkPolicy")
    for node, due in ((data_plane, "ADVANCED_DATAPATH"), (switch, "true")):
        fits = node.boolean() is True if due == "true" else node.text() == due
        if not fits and (node.value is None or node.text() is not None or node.boolean() is not None):
            yield Finding(
                "fqdn-network-policy",
                f"{node.path} is not {due}: the cluster does not have the kind FQDNNetworkPolicy",
                allowed="datapathProvider ADVANCED_DATAPATH and enableFqdnNetworkPolicy true",
                fix=f"set {node.path} to {due}",
            )
