"""Rules about capacities in order of preference: the entries of a pool's list, and the ComputeClass that orders them.

Facts: :mod:`llmd_gke.catalog.compute_class`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from llmd_gke.catalog.accelerators import Slice
from llmd_gke.catalog.compute_class import ACCEPTED, KIND, LABEL, MAX_HOSTS, MOST_PRIORITIES, RECLAIMABLE, TAINT_EFFECT
from llmd_gke.catalog.zones import Capacity, is_reclaimable
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from llmd_gke.rules.names import label
from llmd_gke.wording import counted

NODE_POOL_NAME_LIMIT = 40
"""Characters of a node pool's name in GKE."""


def length(count: int, what: str = "capacities") -> Iterator[Finding]:
    """The list has an entry, and no more than the autoscaler gets through before it starts again."""
    if count == 0:
        yield Finding(
            "capacity-list",
            f"the list of {what} is empty: no host could ever start",
            allowed=f"1 to {MOST_PRIORITIES} entries",
            fix="for example on-demand first, then spot",
        )
    elif count > MOST_PRIORITIES:
        yield Finding(
            "capacity-list",
            f"{count} {what}: GKE tries the first again after five minutes, before it reaches the last",
            allowed=f"1 to {MOST_PRIORITIES} entries",
            fix="remove those that rarely have hosts",
        )


Entry: TypeAlias = tuple[Capacity, str, str | None]
"""Kind, zone, and reservation if there is one: what distinguishes two entries of a list."""


def repeated(entry: Entry, before: Sequence[Entry]) -> Iterator[Finding]:
    """No entry is in the list twice: the second would fail wherever the first has."""
    if entry in before:
        kind, zone, reservation = entry
        of = f" of reservation {reservation}" if reservation else ""
        yield Finding(
            "capacity-repeated",
            f"{kind} in {zone}{of} is already in the list, as entry {before.index(entry) + 1}",
            allowed="each kind once per zone, and each reservation once",
            fix="remove one of them, or set another zone",
        )


def node_pool_name(name: str, before: Sequence[str]) -> Iterator[Finding]:
    """The name of an entry's node pool is one that GKE takes, and no other pool has it."""
    yield from label(name, "node pool name", NODE_POOL_NAME_LIMIT)
    if name in before:
        yield Finding(
            "unique-name",
            f"another node pool has the name {name}",
            fix="set the entry's name, which becomes the last part of the node pool's name",
        )


def reclaimable(kinds: Sequence[Capacity], *, accepted: bool, fix: str) -> Iterator[Finding]:
    """Not every host can be taken away by Google, unless somebody has accepted that in writing."""
    if kinds and not accepted and all(is_reclaimable(kind) for kind in kinds):
        yield Finding(
            "capacity-reclaimable",
            f"Google may reclaim every host: the list has only {' and '.join(dict.fromkeys(kinds))}, so all replicas "
            "can be lost at once",
            allowed="at least one entry of kind on-demand or reservation",
            fix=fix,
        )
    elif kinds and not accepted and is_reclaimable(kinds[0]):
        yield Finding(
            "capacity-reclaimable",
            f"{kinds[0]} comes first: while it has hosts, all replicas run on hosts that Google may reclaim, and are "
            "lost together until others have started",
            allowed="on-demand or reservation first, or a list for models that may be away for the start of a host",
            fix="move an entry of kind on-demand or reservation to the front, or set acceptReclaimable: true",
            severity="warning",
        )


def single_host(pool: str, slice_: Slice) -> Iterator[Finding]:
    """The pool has single hosts: of a slice of several, GKE makes one node pool, and no part of it elsewhere."""
    if slice_.multi_host:
        yield Finding(
            "capacity-list",
            f"pool {pool} is a {slice_.topology} slice of {slice_.hosts} hosts, which GKE creates in one node pool: a "
            "list of capacities is for single hosts",
            allowed="one of on-demand, spot, reservation, flex-start",
            fix="set one capacity, or use a machine type with all chips in one host",
        )


def belongs_to_entries(setting: str) -> Iterator[Finding]:
    """A setting of one kind of capacity is beside a list, where it could mean any entry."""
    yield Finding(
        "capacity-list",
        f"{setting} is ambiguous beside a list of capacities",
        allowed=f"{setting} of an entry of capacity",
        fix=f"move {setting} into the entry that it is for",
    )


def without_list(setting: str) -> Iterator[Finding]:
    """A setting about the order of capacities is there, but no list."""
    yield Finding(
        "capacity-list",
        f"{setting} has no effect: the pool has one capacity, and no list of them",
        allowed=f"{setting} with a list as capacity",
        fix=f"remove {setting}, or make capacity a list",
    )


def enough_hosts(pool: str, maximum: int, limits: Sequence[int]) -> Iterator[Finding]:
    """The entries together allow as many hosts as the pool."""
    if limits and sum(limits) < maximum:
        yield Finding(
            "capacity-room",
            f"the entries of pool {pool} allow {counted(sum(limits), 'host')} together, but its maxNodes is {maximum}",
            allowed=f"maxNodes of the entries that add up to {maximum} or more",
            fix=f"raise maxNodes of an entry, or set maxNodes of the pool to {sum(limits)}",
        )


def kept_within_pool(pool: str, maximum: int, kept: Sequence[int]) -> Iterator[Finding]:
    """The hosts of the entries that always run (``kept``) are together no more than the pool allows, as its price and
    its quota assume. One entry with more than the pool is the finding of another rule.
    """
    if kept and max(kept) <= maximum < sum(kept):
        yield Finding(
            "capacity-room",
            f"the entries of pool {pool} always run {counted(sum(kept), 'host')} together, but its maxNodes is "
            f"{maximum}",
            allowed=f"minNodes of the entries that add up to at most {maximum}",
            fix=f"lower minNodes of an entry, or set maxNodes of the pool to {sum(kept)}",
        )


def within_pool(maximum: int, limit: int) -> Iterator[Finding]:
    """An entry allows no more hosts than its pool."""
    if limit > maximum:
        yield Finding(
            "capacity-room",
            f"the entry allows {counted(limit, 'host')}, but its pool only {maximum}",
            allowed=f"at most {maximum}, the pool's maxNodes",
            fix="lower it, or raise maxNodes of the pool",
        )


def zonal_claim(uri: str, zones: Sequence[str]) -> Iterator[Finding]:
    """Weights in a PersistentVolumeClaim can be read in every zone of the list: most disks are in one zone.

    Buckets are regional, and Hugging Face, S3 and images are reachable from everywhere.
    """
    several = sorted(set(zones))
    if uri.startswith("pvc://") and len(several) > 1:
        yield Finding(
            "capacity-zone",
            f"the disk behind {uri} is in one zone, but the pool has hosts in {', '.join(several)}: pods in the other "
            "zones stay Pending",
            allowed="entries of one zone, or weights in gs://, hf://, s3:// or oci://",
            fix="remove the zones from the list of capacities, or copy the weights into a bucket",
        )


def listed(spec: Input) -> list[str]:
    """The node pools that a ComputeClass lists, in order of preference."""
    entries = spec.get("priorities").each()
    return [name for entry in entries for node in entry.get("nodepools").each() if (name := node.text())]


def compute_class(spec: Input) -> Iterator[Finding]:
    """A ComputeClass lists node pools of the program, and makes none itself."""
    priorities = list(spec.get("priorities").each())
    if spec.get("priorities").value is None or (not priorities and not spec.notes.unknown):
        yield from length(0, "priorities")
    elif len(priorities) > MOST_PRIORITIES:
        yield from length(len(priorities), "priorities")
    unsatisfiable = spec.get("whenUnsatisfiable")
    if unsatisfiable.text() == "ScaleUpAnyway":
        yield _class(
            f"{unsatisfiable.path}: GKE then starts E2 nodes, on which no accelerator pod can run",
            "DoNotScaleUp",
            "set whenUnsatisfiable: DoNotScaleUp",
        )
    creation = spec.get("nodePoolAutoCreation", "enabled")
    if creation.boolean() is True:
        yield _class(
            f"{creation.path}: GKE creates node pools of its own, which no rule about node pools has seen",
            "false",
            "list the program's node pools under priorities",
        )
    pools = listed(spec)
    for name in sorted({one for one in pools if pools.count(one) > 1}):
        yield _class(f"node pool {name} has several priorities", "each node pool once", "remove one of them")


def member(name: str, pool: Input, class_name: str) -> Iterator[Finding]:
    """A node pool that a class lists has the label and the taint that tie it to the class."""
    config = pool.get("nodeConfig")
    labels, taints = config.get("labels"), config.get("taints")
    if labels.get(LABEL).value is None and not labels.notes.unknown:
        yield _class(
            f"node pool {name} has no label {LABEL}: GKE does not treat it as part of the class",
            f"{LABEL}: {class_name}",
            "add it to nodeConfig.labels",
        )
    elif (value := labels.get(LABEL).text()) not in (None, class_name):
        yield _class(
            f"node pool {name} belongs to the class {value}, not to {class_name}",
            class_name,
            f"correct {LABEL} in nodeConfig.labels",
        )
    if not any(taint.get("key").text() == LABEL for taint in taints.each()) and not taints.notes.unknown:
        yield _class(
            f"node pool {name} has no taint {LABEL}: pods of other classes take its hosts",
            f"{LABEL}={class_name}:{TAINT_EFFECT}",
            "add it to nodeConfig.taints",
        )


def accepted(metadata: Input) -> bool:
    """Whether the class says that every host may be reclaimed."""
    return metadata.get("annotations", RECLAIMABLE).text() == ACCEPTED


def most_hosts(metadata: Input) -> int | None:
    """Hosts that run in all node pools of a class together at most; ``None`` where the class does not say."""
    return metadata.get("annotations", MAX_HOSTS).integer()


def _class(problem: str, allowed: str, fix: str) -> Finding:
    return Finding("compute-class", problem if problem.startswith("node pool") else f"{KIND}: {problem}", allowed, fix)
