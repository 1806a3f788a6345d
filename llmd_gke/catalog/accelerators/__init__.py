"""The accelerators that node pools and models can use, and functions that look them up by machine type or name.

Another kind needs a module next to :mod:`llmd_gke.catalog.accelerators.tpu` and an entry in :data:`ACCELERATORS`;
``CONTRIBUTING.md`` counts the other files to change.
"""

from __future__ import annotations

from llmd_gke.catalog.accelerators.accelerator import (
    HYPERDISK_BALANCED,
    PD_BALANCED,
    POOL_LABEL,
    Accelerator,
    ChipMetrics,
    ChipPrice,
    Family,
    MachineType,
    Slice,
)
from llmd_gke.catalog.accelerators.nvidia import NVIDIA
from llmd_gke.catalog.accelerators.tpu import TPU

__all__ = [
    "ACCELERATORS",
    "DEFAULT",
    "FAMILIES",
    "HYPERDISK_BALANCED",
    "NVIDIA",
    "PD_BALANCED",
    "POOL_LABEL",
    "RESOURCES",
    "TPU",
    "Accelerator",
    "ChipMetrics",
    "ChipPrice",
    "Family",
    "MachineType",
    "Slice",
    "accelerator_of",
    "family_of",
    "find_slice",
    "host_of",
    "kind_of",
    "machine_types",
    "quota_name",
    "topologies",
]

ACCELERATORS: tuple[Accelerator, ...] = (TPU, NVIDIA)

DEFAULT = TPU
"""The accelerator whose server image a model gets if it names none."""

FAMILIES: tuple[Family, ...] = tuple(family for kind in ACCELERATORS for family in kind.families)

RESOURCES = tuple(kind.resource for kind in ACCELERATORS)
"""The extended resources of nodes and containers, such as ``google.com/tpu``."""


def accelerator_of(machine_type: str) -> Accelerator | None:
    """The accelerator of a machine type, by the pattern of its name: also for types that are not in the catalogue."""
    return next((kind for kind in ACCELERATORS if kind.has_machine(machine_type)), None)


def kind_of(machine_type: str) -> Accelerator:
    """The accelerator of a pool for models, for whose machines a name such as ``n1-standard-8`` is enough. That of an
    unknown machine type is the one that its name resembles, or else :data:`DEFAULT`.
    """
    family = family_of(machine_type)
    listed = next((kind for kind in ACCELERATORS if family in kind.families), None)
    return listed or accelerator_of(machine_type) or DEFAULT


def host_of(machine_type: str) -> MachineType | None:
    """A machine type of the catalogue, or ``None`` if the catalogue does not have it."""
    return next((one for family in FAMILIES for one in family.machines if one.name == machine_type), None)


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
    """The names of all machine types with accelerators."""
    return tuple(machine.name for family in FAMILIES for machine in family.machines)


def topologies(machine_type: str) -> tuple[str, ...]:
    """The topologies nodes of that machine type can form; empty for an unknown machine type."""
    family = family_of(machine_type)
    return family.topologies[machine_type] if family else ()


def find_slice(machine_type: str, topology: str) -> Slice | None:
    """The slice, or ``None`` where the machine type cannot form the topology."""
    family = family_of(machine_type)
    slices = () if family is None else family.slices()
    return next((one for one in slices if (one.machine.name, one.topology) == (machine_type, topology)), None)
