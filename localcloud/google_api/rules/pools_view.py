"""Node pools and reserved addresses in Google's file, for the laptop cloud's nodes and gateway.

The emulator keeps in ``google.json`` what the program asked for (:class:`~.resource_type.CloudState`); here it is read
as GKE reads it. Nothing is written: how many nodes a pool has at the moment is the kubelet's knowledge, as it is the
instance group's at Google.

Labels and taints of TPU hosts: https://cloud.google.com/kubernetes-engine/docs/how-to/tpus, ``plan-tpus``; GKE adds the
taint itself. Spot and queued: https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from localcloud.google_api.rules.nodepools import first_nodes, pool_zones, provisioning_model
from localcloud.google_api.rules.references import ADDRESS, CLUSTER, NODE_POOL
from localcloud.product import accelerators
from localcloud.providers.protocol.values import JsonObject, dig, number, objects, table, text, texts

DEFAULT_MACHINE = "e2-medium"
DEFAULT_PODS = 110


@dataclass(frozen=True)
class RunningPool:
    """A node pool as GKE runs it.

    ``id``: ``projects/P/locations/L/clusters/C/nodePools/N``; a pool that is replaced keeps it, and changes
    ``fingerprint``, which every property decides that GKE changes only with new nodes. ``zones``: where it has nodes.
    ``minimum`` and ``maximum``: nodes *per zone* between which the autoscaler decides; equal for a fixed size.
    ``initial``: nodes per zone that creation asks for. ``capacity``: how Google provisions the nodes: ``on-demand``,
    ``spot``, ``flex-start`` or ``reserved``. ``hosts``: nodes of one slice, more than 1 for a multi-host pool, whose
    nodes come and go together. ``chips``: accelerators of one node, by the name ``resource``; 0 for a system pool.
    ``vcpus`` and ``memory_gb``: what the machine type says, ``None`` for a type the catalogue does not know.
    ``taints``: key, value, effect as Kubernetes spells it. ``failed``: why GKE could make no nodes (state ``ERROR``),
    ``""`` for a pool that runs.
    """

    id: str
    name: str
    cluster: str
    machine_type: str
    zones: tuple[str, ...]
    minimum: int
    maximum: int
    initial: int
    hosts: int
    chips: int
    vcpus: int | None
    memory_gb: int | None
    max_pods: int
    labels: dict[str, str] = field(default_factory=dict[str, str])
    taints: tuple[tuple[str, str, str], ...] = ()
    resource: str = ""
    capacity: str = "on-demand"
    failed: str = ""
    fingerprint: str = ""

    @property
    def autoscaled(self) -> bool:
        """Whether the number of nodes follows pending pods."""
        return self.minimum != self.maximum


@dataclass(frozen=True)
class ReservedAddress:
    """A reserved regional address. ``internal``: of a subnet, else of the Internet."""

    name: str
    region: str
    address: str
    internal: bool


_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}


def clusters(content: JsonObject) -> list[str]:
    """Ids of the clusters that run. The laptop cloud has one at most."""
    return sorted(_records(content, CLUSTER))


def pools(content: JsonObject) -> list[RunningPool]:
    """Every node pool of the content of ``google.json``, by name. A pool that is still being made is not there yet."""
    made = _records(content, CLUSTER)
    pools: list[RunningPool] = []
    for ident, record in sorted(_records(content, NODE_POOL).items()):
        cluster_id = ident.rpartition("/nodePools/")[0]
        if cluster_id in made and text(record, "status") in ("RUNNING", "ERROR"):
            pools.append(_pool(ident, record, made[cluster_id]))
    return pools


def addresses(content: JsonObject) -> list[ReservedAddress]:
    """Every reserved regional address."""
    return [
        ReservedAddress(
            name=text(record, "inputs", "name"),
            region=ident.split("/")[3],
            address=text(record, "inputs", "address") or text(record, "computed", "address"),
            internal=text(record, "inputs", "addressType") == "INTERNAL",
        )
        for ident, record in sorted(_records(content, ADDRESS).items())
    ]


def _records(content: JsonObject, kind: str) -> dict[str, JsonObject]:
    return {key: value for key, value in table(content, "objects", kind).items() if isinstance(value, dict)}


def _pool(ident: str, record: JsonObject, cluster: JsonObject) -> RunningPool:
    inputs = table(record, "inputs")
    location = ident.split("/")[3]
    machine = text(inputs, "nodeConfig", "machineType") or DEFAULT_MACHINE
    kind, host = _kind(inputs, machine), accelerators.host_of(machine)
    shape = _slice(inputs, machine)
    host = shape.machine if shape else host
    where = pool_zones(inputs, cluster, location)
    first, fixed = first_nodes(inputs), number(inputs, "nodeCount")
    low, high = _between(inputs, len(where), first if fixed is None else fixed)
    return RunningPool(
        id=ident,
        name=text(inputs, "name"),
        cluster=ident.rpartition("/nodePools/")[0],
        machine_type=machine,
        zones=tuple(where),
        minimum=low,
        maximum=high,
        initial=max(first, low),
        hosts=shape.hosts if shape else 1,
        chips=host.chips if host and kind else 0,
        resource=kind.resource if kind and host else "",
        vcpus=host.vcpus if host else vcpus_of(machine),
        memory_gb=host.memory_gb if host else memory_gb_of(machine),
        max_pods=number(inputs, "maxPodsPerNode") or DEFAULT_PODS,
        labels=_labels(inputs, machine, shape),
        taints=_taints(inputs, kind if host else None),
        capacity=provisioning_model(inputs),
        failed=text(record, "statusMessage") if record.get("status") == "ERROR" else "",
        fingerprint=_fingerprint(machine, where, shape),
    )


def _between(inputs: JsonObject, zone_count: int, fixed: int) -> tuple[int, int]:
    """Nodes per zone at least and at most; totals are spread over the zones."""
    if dig(inputs, "autoscaling") is None:
        return fixed, fixed
    low, high = number(inputs, "autoscaling", "minNodeCount"), number(inputs, "autoscaling", "maxNodeCount")
    if high is None:
        low = (number(inputs, "autoscaling", "totalMinNodeCount") or 0) // zone_count
        high = -(-(number(inputs, "autoscaling", "totalMaxNodeCount") or 0) // zone_count)
    return low or 0, high


def _kind(inputs: JsonObject, machine: str) -> accelerators.Accelerator | None:
    """The accelerator of the nodes; ``None`` for ordinary machines, such as N1 hosts that no GPUs are attached to."""
    asked = accelerators.family_of(machine) if objects(inputs, "nodeConfig", "guestAccelerators") else None
    listed = next((kind for kind in accelerators.ACCELERATORS if asked in kind.families), None)
    return listed or accelerators.accelerator_of(machine)


def _slice(inputs: JsonObject, machine: str) -> accelerators.Slice | None:
    """The slice that the nodes form: the one asked for, else the machine type's own single host."""
    asked = text(inputs, "placementPolicy", "tpuTopology")
    if asked:
        return accelerators.find_slice(machine, asked)
    guest = next(iter(objects(inputs, "nodeConfig", "guestAccelerators")), None)
    if guest is not None:
        return accelerators.find_slice(machine, str(number(guest, "count") or 0))
    family = accelerators.family_of(machine)
    own = family.slices() if family else ()
    return next((s for s in own if s.machine.name == machine and not s.multi_host), None)


def _labels(inputs: JsonObject, machine: str, shape: accelerators.Slice | None) -> dict[str, str]:
    labels = {accelerators.POOL_LABEL: text(inputs, "name"), "node.kubernetes.io/instance-type": machine}
    labels |= {key: str(value) for key, value in table(inputs, "nodeConfig", "labels").items()}
    kind, family = _kind(inputs, machine), accelerators.family_of(machine)
    if kind is not None and family is not None and shape is not None:
        labels |= kind.node_labels(family, shape)
    if dig(inputs, "nodeConfig", "spot") is True:
        labels["cloud.google.com/gke-spot"] = "true"
    reserved = texts(inputs, "nodeConfig", "reservationAffinity", "values")
    if reserved:
        labels["cloud.google.com/reservation-name"] = reserved[0].split("/")[-1]
    if text(inputs, "nodeConfig", "workloadMetadataConfig", "mode") == "GKE_METADATA":
        labels["iam.gke.io/gke-metadata-server-enabled"] = "true"
    return labels


def _taints(inputs: JsonObject, kind: accelerators.Accelerator | None) -> tuple[tuple[str, str, str], ...]:
    given = [
        (text(taint, "key"), text(taint, "value"), _EFFECTS.get(text(taint, "effect"), "NoSchedule"))
        for taint in objects(inputs, "nodeConfig", "taints")
    ]
    return tuple(dict.fromkeys(given + ([kind.taint] if kind else [])))


def vcpus_of(machine: str) -> int | None:
    """The number at the end of a machine type's name (``n2-standard-8``); shared-core types of e2 have two."""
    last = machine.rpartition("-")[2]
    return int(last) if last.isdigit() else 2 if machine.startswith("e2-") else None


def memory_gb_of(machine: str) -> int | None:
    """GB of memory: 4, 8 or 1 for each vCPU of standard, highmem and highcpu types.

    https://cloud.google.com/compute/docs/general-purpose-machines; shared-core: e2-micro 1, -small 2, -medium 4.
    """
    shared = {"e2-micro": 1, "e2-small": 2, "e2-medium": 4}
    if machine in shared:
        return shared[machine]
    factor: dict[str, int] = {"standard": 4, "highmem": 8, "highcpu": 1}
    parts, vcpus = machine.split("-"), vcpus_of(machine)
    return None if vcpus is None or len(parts) < 3 else vcpus * factor.get(parts[1], 4)


def _fingerprint(machine: str, where: list[str], shape: accelerators.Slice | None) -> str:
    topology = shape.topology if shape else ""
    return " ".join((machine, topology, *where))
