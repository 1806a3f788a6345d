"""Rules about names, addresses of objects and ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Network

from llmd_gke.catalog.existing import PARTS
from llmd_gke.rules.finding import Finding
from llmd_gke.wording import counted

DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
LABEL_KEY = re.compile(r"[a-z][-_a-z0-9]{0,62}")
LABEL_VALUE = re.compile(r"[-_a-z0-9]{0,63}")
KMS_KEY = re.compile(r"projects/[^\s/]+/locations/([^\s/]+)/keyRings/[\w-]+/cryptoKeys/[\w-]+")
PROJECT_ID = re.compile(r"[a-z][-a-z0-9]{4,28}[a-z0-9]")

MODEL_NAME_LIMIT = 38
"""KServe appends ``-kserve-self-signed-certs``: with up to 38 characters every generated name is predictable, a longer
one is truncated and hashed (knative ``kmeta.ChildName``, used by kserve ``workload.go``)."""

CLUSTER_NAME_LIMIT = 24
"""The node service account is called ``NAME-nodes``, and Google allows 30 characters there."""


def label(value: str, what: str, limit: int) -> Iterator[Finding]:
    """Lower-case letters, digits and dashes, starting with a letter, at most ``limit`` characters.

    The name that the fix proposes for a path (``projects/P/global/networks/N``, a URL) is its last part.
    """
    if not DNS_LABEL.fullmatch(value):
        last = re.sub("[^a-z0-9]+", "-", value.rstrip("/").rpartition("/")[2].lower()).lstrip("-0123456789")
        yield Finding(
            "name-characters",
            f"{value!r} is not a valid {what}",
            allowed="lower-case letters, digits and dashes; starts with a letter, does not end with a dash",
            fix=f"for example {last[:limit].rstrip('-') or 'name'}",
        )
    elif len(value) > limit:
        yield Finding(
            "name-length",
            f"{what} {value!r} has {len(value)} characters",
            allowed=f"at most {limit}",
            fix=f"for example {value[:limit].rstrip('-')}",
        )


RESOURCE_NAME_LIMIT = 63
"""Compute Engine's limit for names of its resources (https://cloud.google.com/compute/docs/naming-resources)."""


def workload_policy(policy: str, pool: str) -> Iterator[Finding]:
    """The resource policy of a slice, named after cluster, pool and topology, is not too long for Compute Engine."""
    over = len(policy) - RESOURCE_NAME_LIMIT
    if over > 0:
        yield Finding(
            "name-length",
            f"the slice's resource policy {policy!r} has {len(policy)} characters",
            allowed=f"at most {RESOURCE_NAME_LIMIT}; it consists of the names of cluster and pool, and the topology",
            fix=f"for example {pool[:-over].rstrip('-')}",
        )


RESERVED_NAMESPACES = frozenset({"default", "inference-gateway", *(part.namespace for part in PARTS)})
"""Namespaces that the platform or the cluster owns."""


def namespace(value: str) -> Iterator[Finding]:
    """A namespace for models: a valid name that neither the cluster nor the platform uses."""
    yield from label(value, "namespace", 63)
    if value in RESERVED_NAMESPACES or value.startswith(("kube-", "gke-", "gmp-")):
        yield Finding(
            "reserved-namespace",
            f"namespace {value} belongs to the cluster or the platform: the default-deny policy for models would "
            "cut off their traffic",
            allowed="a namespace used only for models",
            fix="namespace: models",
        )


def range_of(value: str) -> IPv4Network | None:
    """A range in CIDR notation. ``None`` for other text, and for an address alone, which is no range of one address."""
    try:
        return IPv4Network(value) if "/" in value else None
    except ValueError:
        return None


SMALLEST_PODS = 21
"""GKE gives each node a /24 for its 110 pods, and requires room for at least eight nodes
(https://cloud.google.com/kubernetes-engine/docs/concepts/alias-ips#defaults_limits)."""


def pod_range(value: str) -> Iterator[Finding]:
    """The pods' range has room for the nodes of a cluster."""
    network = range_of(value)
    if network and network.prefixlen > SMALLEST_PODS:
        yield Finding(
            "pod-range",
            f"{value} is enough for only {2 ** max(0, 24 - network.prefixlen)} nodes at 110 pods each",
            allowed=f"/{SMALLEST_PODS} or larger, such as a /14",
            fix="pods: 10.4.0.0/14",
        )


SMALLEST_SUBNET = 29
"""The smallest primary range of a subnet: Google reserves four of its addresses
(https://cloud.google.com/vpc/docs/subnets#ipv4-ranges)."""


def node_range(value: str) -> Iterator[Finding]:
    """The nodes' range is large enough for a subnet."""
    network = range_of(value)
    if network and network.prefixlen > SMALLEST_SUBNET:
        yield Finding(
            "node-range",
            f"{value} has {counted(network.num_addresses, 'address', 'addresses')}, and Google reserves four in each "
            "subnet",
            allowed=f"/{SMALLEST_SUBNET} or larger, such as a /20",
            fix="nodes: 10.0.0.0/20",
        )


def project_of(path: str) -> str | None:
    """The project of a Google resource's path or URL (``projects/P/…``); ``None`` for a name alone."""
    match = re.search(r"(?:^|/)projects/([^/]+)/", path)
    return match and match[1]


def project(value: str, fix: str = "pulumi config set gcp:project PROJECT_ID") -> Iterator[Finding]:
    """A Google Cloud project ID. ``fix``: what to do if it is not the stack's own project."""
    if value.isdigit():
        fix = f"gcloud projects describe {value} --format 'value(projectId)' prints the project ID; set that"
    if not PROJECT_ID.fullmatch(value):
        yield Finding(
            "project-id",
            f"{value!r} is not a Google Cloud project ID",
            allowed="6 to 30 lower-case letters, digits and dashes, starting with a letter",
            fix=fix,
        )


def resource_label(key: str, value: str) -> Iterator[Finding]:
    """A label of Google Cloud resources (https://cloud.google.com/compute/docs/labeling-resources)."""
    if key.startswith("goog"):
        yield Finding(
            "label", f"label {key}: names that start with goog are reserved by Google", fix="choose another name"
        )
    elif not LABEL_KEY.fullmatch(key) or not LABEL_VALUE.fullmatch(value):
        yield Finding(
            "label",
            f"{key}={value} is not a valid Google Cloud label",
            allowed="at most 63 lower-case letters, digits, dashes and underscores for name and value; the name "
            "starts with a letter",
            fix=f"for example {_labelled(key).lstrip('-_0123456789') or 'name'}: {_labelled(value) or 'value'}",
        )


def _labelled(text: str) -> str:
    return re.sub("[^-_a-z0-9]+", "-", text.lower())[:63]


def kms_key(value: str, locations: tuple[str, ...]) -> Iterator[Finding]:
    """The full name of a Cloud KMS key (not of a version of it) in one of the locations."""
    match = KMS_KEY.fullmatch(value)
    example = f"projects/PROJECT/locations/{locations[0]}/keyRings/RING/cryptoKeys/KEY"
    if not match:
        yield Finding(
            "kms-key", f"{value!r} is not the name of a Cloud KMS key", allowed=example, fix="copy its full name"
        )
    elif match[1] not in locations:
        yield Finding(
            "kms-key",
            f"the key is in {match[1]}, but the cluster is in {locations[0]}",
            allowed=" or ".join(locations),
            fix=f"create a key in {locations[0]}",
        )


USUAL_PREFIX = {"nodes": 20, "pods": 14, "services": 20, "proxies": 23}
"""Prefix lengths of the network's ranges that are proposed for an address without one."""


def cidr(value: str, usual: int = 32) -> Iterator[Finding]:
    """An IPv4 range in CIDR notation, with its first address. ``usual``: the prefix to propose for an address alone."""
    if range_of(value):
        return
    try:
        example = str(IPv4Network(value if "/" in value else f"{value}/{usual}", strict=False))
    except ValueError:
        example = "10.0.0.0/20"
    yield Finding(
        "cidr",
        f"{value!r} is not an IPv4 range",
        allowed="the first address of the range, a slash and the prefix length",
        fix=f"for example {example}",
    )


def disjoint(ranges: dict[str, str]) -> Iterator[Finding]:
    """No two ranges of the network overlap. ``ranges`` maps the key to a CIDR; unreadable ones are left out."""
    networks: dict[str, IPv4Network] = {}
    for key, text in ranges.items():
        if (network := range_of(text)) is None:
            continue
        for other, taken in networks.items():
            if network.overlaps(taken):
                yield Finding(
                    "network-overlap",
                    f"{key} {network} overlaps {other} {taken}",
                    allowed="ranges that do not overlap",
                    fix=f"use another range for {key}",
                )
        networks[key] = network
