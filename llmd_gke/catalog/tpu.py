"""TPU families on GKE: machine types, slices, node labels, disks, quota names.

State of the facts: 2026-08-22. Sources:

* https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus (machine types, zones, topologies)
* https://github.com/AI-Hypercomputer/xpk ``src/xpk/core/system_characteristics.py`` @367c8382 (topologies, hosts)
* https://github.com/GoogleCloudPlatform/cluster-toolkit ``pkg/config/hardware.go`` @10470803 (2-D topologies)

Three vocabularies exist for the same hardware and must not be mixed (they broke more than one tool, see
skypilot-org/skypilot#5024): the Cloud TPU API says ``v6e-4``, GKE's node label ``tpu-v6e-slice``, quota ``CT6E``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

HYPERDISK_BALANCED = "hyperdisk-balanced"
PD_BALANCED = "pd-balanced"

ACCELERATOR_LABEL = "cloud.google.com/gke-tpu-accelerator"
TOPOLOGY_LABEL = "cloud.google.com/gke-tpu-topology"
COUNT_LABEL = "cloud.google.com/gke-accelerator-count"
POOL_LABEL = "cloud.google.com/gke-nodepool"
TPU_RESOURCE = "google.com/tpu"


@dataclass(frozen=True)
class MachineType:
    """A TPU host: ``chips`` TPU chips, ``vcpus`` and ``memory_gb`` of RAM (the smaller figure where sources differ)."""

    name: str
    chips: int
    vcpus: int
    memory_gb: int


@dataclass(frozen=True)
class ChipPrice:
    """USD per chip and hour; ``None`` where no public price exists."""

    on_demand: float
    spot: float | None


@dataclass(frozen=True)
class Slice:
    """A machine type in a topology: ``hosts`` nodes that hold ``chips`` chips together."""

    machine: MachineType
    topology: str

    @property
    def chips(self) -> int:
        """Chips of the whole slice."""
        return prod(int(side) for side in self.topology.split("x"))

    @property
    def hosts(self) -> int:
        """Nodes of the slice."""
        return self.chips // self.machine.chips

    @property
    def multi_host(self) -> bool:
        """Whether the slice is one unit of several nodes, made and lost together."""
        return self.hosts > 1


@dataclass(frozen=True)
class Family:
    """One TPU generation.

    ``shapes`` maps a machine type's name to the topologies its nodes can form. ``hbm_gb`` is memory per chip.
    ``boot_disks`` are the disk types a node boots from, the preferred one first. ``zones`` is where GKE has it, and
    ``flex_start_zones`` where also with ``capacity: flex-start``; ``prices`` are list prices by region. The dates of
    both are in :mod:`llmd_gke.catalog.zones`.
    """

    name: str
    accelerator: str
    quota_family: str
    quota: str
    spot_quota: str
    dimensions: int
    hbm_gb: int
    machines: tuple[MachineType, ...]
    shapes: Mapping[str, tuple[str, ...]]
    boot_disks: tuple[str, ...]
    zones: frozenset[str]
    flex_start_zones: frozenset[str] = frozenset()
    prices: Mapping[str, ChipPrice] = field(default_factory=dict[str, ChipPrice])
    minimum_gke: str | None = None
    workload_policy: bool = False

    def slices(self) -> Iterator[Slice]:
        """Every slice of this family, small ones first."""
        for machine in self.machines:
            for topology in self.shapes[machine.name]:
                yield Slice(machine, topology)


_FLAT_MULTI_HOST = ("2x4", "4x4", "4x8", "8x8", "8x16", "16x16")
_CUBES = (
    "2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4", "4x4x8", "4x8x8", "8x8x8", "8x8x12", "8x8x16", "8x16x16",
    "16x16x16",
)  # fmt: skip
_FAMILY_QUOTA = "TPUS_PER_TPU_FAMILY"

FAMILIES: tuple[Family, ...] = (
    Family(
        name="v4",
        accelerator="tpu-v4-podslice",
        quota_family="CT4P",
        quota=_FAMILY_QUOTA,
        spot_quota="PREEMPTIBLE_TPU_PODSLICE_V4",
        dimensions=3,
        hbm_gb=32,
        machines=(MachineType("ct4p-hightpu-4t", 4, 240, 407),),
        shapes={"ct4p-hightpu-4t": _CUBES},
        boot_disks=(PD_BALANCED,),
        zones=frozenset({"us-central2-b"}),
    ),
    Family(
        name="v5e",
        accelerator="tpu-v5-lite-podslice",
        quota_family="CT5LP",
        quota="TPU_LITE_PODSLICE_V5",
        spot_quota="PREEMPTIBLE_TPU_LITE_PODSLICE_V5",
        dimensions=2,
        hbm_gb=16,
        machines=(
            MachineType("ct5lp-hightpu-1t", 1, 24, 48),
            MachineType("ct5lp-hightpu-4t", 4, 112, 192),
            MachineType("ct5lp-hightpu-8t", 8, 224, 384),
        ),
        shapes={
            "ct5lp-hightpu-1t": ("1x1",),
            "ct5lp-hightpu-4t": ("2x2", *_FLAT_MULTI_HOST),
            "ct5lp-hightpu-8t": ("2x4",),
        },
        boot_disks=(PD_BALANCED,),
        zones=frozenset({"europe-west4-b", "us-central1-a", "us-south1-a", "us-west1-c", "us-west4-a"}),
        flex_start_zones=frozenset({"us-west4-a"}),
    ),
    Family(
        name="v5p",
        accelerator="tpu-v5p-slice",
        quota_family="CT5P",
        quota=_FAMILY_QUOTA,
        spot_quota="PREEMPTIBLE_TPU_PODSLICE_V5P",
        dimensions=3,
        hbm_gb=95,
        machines=(MachineType("ct5p-hightpu-4t", 4, 208, 448),),
        shapes={"ct5p-hightpu-4t": _CUBES},
        boot_disks=(PD_BALANCED,),
        zones=frozenset({"europe-west4-b", "us-central1-a", "us-east5-a"}),
        flex_start_zones=frozenset({"us-east5-a"}),
    ),
    Family(
        name="v6e",
        accelerator="tpu-v6e-slice",
        quota_family="CT6E",
        quota=_FAMILY_QUOTA,
        spot_quota="PREEMPTIBLE_TPU_V6E",
        dimensions=2,
        hbm_gb=32,
        machines=(
            # RAM of 1t: 176 GB, seen on a machine (2026-10); the table of plan-tpus says 448.
            MachineType("ct6e-standard-1t", 1, 44, 176),
            MachineType("ct6e-standard-4t", 4, 180, 720),
            MachineType("ct6e-standard-8t", 8, 180, 1440),
        ),
        shapes={
            "ct6e-standard-1t": ("1x1",),
            "ct6e-standard-4t": ("2x2", *_FLAT_MULTI_HOST),
            "ct6e-standard-8t": ("2x4",),
        },
        # The default pd-balanced does not attach to v6e.
        boot_disks=(HYPERDISK_BALANCED,),
        zones=frozenset(
            {
                "asia-northeast1-b",
                "europe-west4-a",
                "southamerica-west1-a",
                "us-central1-b",
                "us-east1-d",
                "us-east5-a",
                "us-east5-b",
                "us-south1-ai1b",
            }
        ),
        # europe-west4-a has neither flex-start nor calendar.
        flex_start_zones=frozenset({"asia-northeast1-b", "us-east5-a", "us-east5-b"}),
        prices={
            "us-central1": ChipPrice(2.70, 0.544),
            "us-east1": ChipPrice(2.70, 0.544),
            "us-west1": ChipPrice(2.70, 0.544),
            "us-east5": ChipPrice(2.70, 1.215),
            "us-south1": ChipPrice(2.70, 1.35),
            "europe-west4": ChipPrice(2.97, 1.037),
            "asia-southeast1": ChipPrice(2.97, 0.363),
            "asia-northeast1": ChipPrice(3.24, 0.944),
            "asia-south1": ChipPrice(3.24, 2.27),
            "southamerica-west1": ChipPrice(2.70, None),
        },
        minimum_gke="1.31.2-gke.1115000",
    ),
    Family(
        name="tpu7x",
        accelerator="tpu7x",
        quota_family="TPU7X",
        quota=_FAMILY_QUOTA,
        spot_quota="PREEMPTIBLE_TPU_7X",
        dimensions=3,
        hbm_gb=192,
        machines=(
            MachineType("tpu7x-standard-1t", 1, 56, 240),
            MachineType("tpu7x-standard-4t", 4, 224, 960),
        ),
        shapes={"tpu7x-standard-1t": ("1x1x1",), "tpu7x-standard-4t": _CUBES},
        boot_disks=(HYPERDISK_BALANCED,),
        zones=frozenset({"us-central1-ai1a", "us-central1-c"}),
        flex_start_zones=frozenset({"us-central1-c"}),
        minimum_gke="1.34.1-gke.2541000",
        # "Creation of a managed instance group with tpu7x-standard-4t machine type with placement policy is not
        # supported. Use workload policy instead." (vllm-project/ci-infra#547)
        workload_policy=True,
    ),
)


def family_of(machine_type: str) -> Family | None:
    """The family a machine type belongs to, or ``None`` for a name the catalogue does not know."""
    return next((f for f in FAMILIES if any(m.name == machine_type for m in f.machines)), None)


def quota_name(family: Family, *, preemptible: bool) -> str:
    """The Compute Engine quota that hosts draw on, in chips per region: spot and flex-start have one of their own.

    It is not the Cloud TPU API's quota of a similar name. ``TPUS_PER_TPU_FAMILY`` has the dimension ``tpu_family``
    (:attr:`Family.quota_family`), is 0 in most projects, and ``gcloud compute regions describe`` does not list it.
    """
    return family.spot_quota if preemptible else family.quota


def machine_types() -> tuple[str, ...]:
    """The names of all TPU machine types."""
    return tuple(machine.name for family in FAMILIES for machine in family.machines)


def topologies(machine_type: str) -> tuple[str, ...]:
    """The topologies nodes of that machine type can form; empty for an unknown machine type."""
    family = family_of(machine_type)
    return family.shapes[machine_type] if family else ()


def find_slice(machine_type: str, topology: str) -> Slice | None:
    """The slice, or ``None`` where the machine type cannot form the topology."""
    family = family_of(machine_type)
    if family is None or topology not in family.shapes[machine_type]:
        return None
    machine = next(m for m in family.machines if m.name == machine_type)
    return Slice(machine, topology)
