"""The facts about an accelerator: machines and slices as data, and the fields of pods and node pools.

The data of one kind is in a module of its own, such as :mod:`llmd_gke.catalog.accelerators.tpu`; everything else uses
:mod:`llmd_gke.catalog.accelerators`, and names no kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod

HYPERDISK_BALANCED = "hyperdisk-balanced"
PD_BALANCED = "pd-balanced"

POOL_LABEL = "cloud.google.com/gke-nodepool"
"""GKE's label of every node: the name of its pool."""


@dataclass(frozen=True)
class MachineType:
    """A host: ``chips`` chips, ``vcpus`` and ``memory_gb`` of RAM (the smaller figure where sources differ)."""

    name: str
    chips: int
    vcpus: int
    memory_gb: int


@dataclass(frozen=True)
class ChipPrice:
    """USD per chip and hour; ``None`` where no public price exists."""

    on_demand: float
    spot: float | None


def by_region(**prices: tuple[float, float | None]) -> dict[str, ChipPrice]:
    """Prices by region, whose hyphen is an underscore here."""
    return {region.replace("_", "-"): ChipPrice(*price) for region, price in prices.items()}


@dataclass(frozen=True)
class Slice:
    """A machine type in a topology: ``hosts`` nodes with ``chips`` chips together, of ``devices_per_chip`` each."""

    machine: MachineType
    topology: str
    devices_per_chip: int = 1

    @property
    def chips(self) -> int:
        """Chips of the whole slice."""
        return prod(int(side) for side in self.topology.split("x"))

    @property
    def devices(self) -> int:
        """Devices of the whole slice, among which a server divides its model."""
        return self.chips * self.devices_per_chip

    @property
    def devices_per_host(self) -> int:
        """Devices of each node."""
        return self.machine.chips * self.devices_per_chip

    @property
    def hosts(self) -> int:
        """Nodes of the slice."""
        return self.chips // self.machine.chips

    @property
    def multi_host(self) -> bool:
        """Whether the slice is one unit of several nodes, which are created and lost together."""
        return self.hosts > 1


@dataclass(frozen=True)
class ChipMetrics:
    """PromQL names of the metrics of chips, by the label ``node``: per cent of their ``utilization`` and of their
    memory's ``bandwidth``; the memory in use, and what adds up to all of it, in the same unit.
    """

    node: str
    utilization: str
    bandwidth: str
    memory_used: str
    memory_total: tuple[str, ...]
    source: str
    component: str | None = None
    """The component of the cluster's ``monitoringConfig`` that collects them; ``None`` for metrics of GKE itself."""


@dataclass(frozen=True)
class Family:
    """One generation of TPUs, or one model of GPUs.

    ``topologies`` maps a machine type's name to those its nodes can form; those of one dimension are the numbers
    of GPUs that a host can have. ``hbm_gb`` is memory per chip.
    Requests, labels, quotas and prices count chips; servers count devices, of which a chip has ``devices_per_chip``.
    ``boot_disks`` are the disk types a node boots from, the preferred one first. ``zones`` are the zones in which GKE
    offers it, ``flex_start_zones`` those in which it is also offered with ``capacity: flex-start``; ``prices`` are list
    prices by region, without those of the host's vCPUs and their memory where ``vcpu_prices`` has them. The dates of
    all are in :mod:`llmd_gke.catalog.zones`. ``dtypes``: data types that its chips compute in, the server's default
    first; ``fp8``: whether they compute in FP8. ``arguments``: further ones of its servers. ``gvnic``: whether hosts
    need Google's network card. ``numa_nodes`` of the largest machine may each have a container of a pod;
    ``slice_annotation`` of a pod chooses the topology of a dynamic slice, without a selector.
    """

    name: str
    label_value: str
    quota_family: str
    quota: str
    spot_quota: str
    hbm_gb: int
    machines: tuple[MachineType, ...]
    topologies: Mapping[str, tuple[str, ...]]
    boot_disks: tuple[str, ...]
    zones: frozenset[str]
    flex_start_zones: frozenset[str] = frozenset()
    prices: Mapping[str, ChipPrice] = field(default_factory=dict[str, ChipPrice])
    minimum_gke: str | None = None
    workload_policy: bool = False
    dimensions: int = 1
    devices_per_chip: int = 1
    vcpu_prices: Mapping[str, ChipPrice] = field(default_factory=dict[str, ChipPrice])
    dtypes: tuple[str, ...] = ("bfloat16",)
    fp8: bool = True
    arguments: tuple[str, ...] = ()
    gvnic: bool = False
    numa_nodes: int = 1
    slice_annotation: str = ""

    def slices(self) -> Iterator[Slice]:
        """Every slice of this family, small ones first."""
        for machine in self.machines:
            for topology in self.topologies[machine.name]:
                host = replace(machine, chips=int(topology)) if self.dimensions == 1 else machine
                yield Slice(host, topology, self.devices_per_chip)

    def shown(self, slice_: Slice) -> str:
        """A slice in messages: ``ct6e-standard-4t 2x2``, ``g2-standard-4 1xL4``."""
        return f"{slice_.machine.name} {slice_.topology}{f'x{self.name}' if self.dimensions == 1 else ''}"


@dataclass(frozen=True)
class Accelerator:
    """A kind of accelerator: its nodes' properties, its pods' requests, and the arguments of its servers."""

    name: str
    """Its name in messages; in lower case, the prefix of its rules' names (:meth:`rule`)."""
    families: tuple[Family, ...]
    machine_names: re.Pattern[str]
    """Matches the names of its machine types, also of those that the catalogue does not have."""
    documentation: str
    pricing: str
    """Google's pages about its nodes, and about its prices."""

    resource: str
    """The extended resource of its nodes, and the key of the taint that GKE gives them (:attr:`taint`)."""
    family_label: str
    """The label that GKE gives its nodes: :attr:`Family.label_value`."""
    metrics: ChipMetrics
    quota_dimensions: Mapping[str, str]
    """Quotas that have a dimension: name of the quota to the dimension whose values are :attr:`Family.quota_family`."""

    image: str
    """The default image of the server: a key of ``versions.toml``."""
    config_suffix: str
    """Suffix of the name of the server's LLMInferenceServiceConfig, after the model's name."""
    minimum_startup_minutes: int
    """Minimum number of minutes that a server needs from an empty node to its first answer."""
    environment: Mapping[str, str]
    group_environment: Mapping[str, str]
    """Variables of every server, and additional ones of a model that spans hosts."""
    adapter_environment: Mapping[str, str]
    """Additional ones of servers with LoRA adapters, which no setting may give another value."""
    cache_variable: str
    """The variable that names the folder of compiled graphs."""
    owned_variables: Mapping[str, str]
    """Variables that the program or a setting writes, each with the reason or the setting to use instead."""
    platform_variables: re.Pattern[str]
    """Names of variables that GKE or LeaderWorkerSet sets."""
    foreign_variables: re.Pattern[str]
    foreign_variables_are: str
    """Names of variables that mean nothing to its servers, and what a message says they are."""
    broken_values: Mapping[tuple[str, str], str]
    """Variables with values at which the server exits, and the values that work."""
    refused_arguments: Mapping[str, str]
    """Arguments that make the server exit, or that it ignores, each with the reason."""
    quantizations: frozenset[str]
    kv_connectors: frozenset[str]
    """Values of ``--quantization`` and connectors of ``--kv-transfer-config`` that the server supports."""
    kv_offload: tuple[str, ...]
    """Arguments that keep KV cache in the host's memory; ``GIB`` stands for its size."""

    hardware: str = "TPU"
    """The hardware that images are built for: a key of :data:`llmd_gke.catalog.image_hardware.HARDWARE`."""
    topology_label: str = ""
    count_label: str = ""
    """Labels that GKE gives its nodes: the slice's topology, chips of the machine; empty where there is none."""
    memory_port: int | None = None
    """The port of a server's container where GKE reads the memory in use, without which there is no such metric;
    ``None`` where GKE reads it from the node."""
    kv_offload_blocks: str | None = None
    """The variable with the number of blocks in the host's memory; ``None`` where the server counts bytes."""
    driver: str | None = None
    """The version of the driver that GKE installs on its nodes; ``None`` where it belongs to the node's image."""
    global_quota: str | None = None
    """A quota of the whole project that its chips count against beside :attr:`Family.quota`."""
    writes_taint: bool = False
    """Whether node pools have to set the taint."""
    transparent_hugepages: bool = False
    tests_models: bool = False
    """Whether upstream publishes which models it tests on it (:attr:`llmd_gke.catalog.models.KnownModel.tested`)."""

    taint_value: str = "present"
    taint_effect: str = "NoSchedule"

    @property
    def taint(self) -> tuple[str, str, str]:
        """Key, value and effect of the taint that GKE gives its nodes, as Kubernetes writes them."""
        return self.resource, self.taint_value, self.taint_effect

    def rule(self, about: str) -> str:
        """The name of a rule and policy about this kind, such as ``tpu-server-argument``."""
        return f"{self.name.lower()}-{about}"

    def has_machine(self, machine_type: str) -> bool:
        """Whether a machine type is a host of this kind, by its name, also in capitals."""
        return self.machine_names.match(machine_type.lower()) is not None

    def node_labels(self, family: Family, slice_: Slice) -> dict[str, str]:
        """The labels that identify the nodes of a slice; GKE rejects pods whose node selector lacks the first two."""
        labels = {
            self.family_label: family.label_value,
            self.topology_label: slice_.topology,
            self.count_label: str(slice_.machine.chips),
        }
        return {label: value for label, value in labels.items() if label}

    def resources(self, slice_: Slice) -> dict[str, str]:
        """Requests and limits of a container: every chip of its node."""
        return {self.resource: str(slice_.machine.chips)}

    def family_by_label(self, value: str | None) -> Family | None:
        """The family whose nodes have that value of ``family_label``."""
        return next((family for family in self.families if family.label_value == value), None)

    def quota_dimension(self, family: Family, quota: str) -> tuple[str, str] | None:
        """The dimension of a quota and its value for this kind; ``None`` for a quota without dimensions."""
        dimension = self.quota_dimensions.get(quota)
        return None if dimension is None else (dimension, family.quota_family)
