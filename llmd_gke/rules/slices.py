"""Rules about machine types, TPU slices and GPUs of hosts, their zones and disks.

Facts: :mod:`llmd_gke.catalog.accelerators`, :mod:`llmd_gke.catalog.zones`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

from llmd_gke.catalog import accelerators, zones
from llmd_gke.catalog.accelerators import Family
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.versions import is_older

ZONE = re.compile(r"[a-z]+-[a-z]+\d+-[a-z0-9]+")


def listed(values: Iterable[str]) -> str:
    """Values sorted and joined by commas, for messages."""
    return ", ".join(sorted(values))


def machine_type(name: str) -> Iterator[Finding]:
    """The machine type is a host with accelerators that GKE offers."""
    if accelerators.family_of(name) is None:
        kind = accelerators.accelerator_of(name) or accelerators.DEFAULT
        machines = [machine.name for family in kind.families for machine in family.machines]
        yield Finding(
            kind.rule("machine-type"),
            f"{name} is not a {kind.name} machine type of GKE",
            allowed=", ".join(machines),
            fix=f"use {name.lower()}"
            if accelerators.family_of(name.lower())
            else "use one of these; for one chip use ct6e-standard-1t (TPU v6e) or g2-standard-8 (L4)",
        )


def topology(machine_type: str, topology: str) -> Iterator[Finding]:
    """Nodes of the machine type can form the topology. v5e and v6e are two-dimensional, the others three."""
    family = accelerators.family_of(machine_type)
    if family is None or accelerators.find_slice(machine_type, topology) is not None:
        return
    if family.dimensions == 1:
        yield from _gpus(machine_type, topology, family)
        return
    if not topology:
        allowed = ", ".join(accelerators.topologies(machine_type))
        yield Finding("tpu-topology", "a TPU pool needs a topology", allowed=allowed, fix="set topology")
        return
    others = sorted({s.machine.name for s in family.slices() if s.topology == topology})
    sides = topology.count("x") + 1
    if sides != family.dimensions:
        problem = f"{family.name} topologies have {family.dimensions} dimensions, {topology} has {sides}"
    elif others:
        problem = f"{machine_type} cannot form {topology}; {' and '.join(others)} can"
    else:
        problem = f"{machine_type} cannot form {topology}"
    allowed = accelerators.topologies(machine_type)
    yield Finding("tpu-topology", problem, allowed=", ".join(allowed), fix=f"use topology {allowed[0]} for one host")


def _gpus(machine_type: str, count: str, family: Family) -> Iterator[Finding]:
    """A host has as many GPUs as its machine type takes; a topology is for TPUs."""
    allowed = family.topologies[machine_type]
    if not count.isdecimal():
        yield Finding(
            "gpu-topology", f"topology {count} is for TPUs, {machine_type} has {family.name}", fix="remove it"
        )
        return
    others = ", ".join(family.shown(one) for one in family.slices() if one.topology == count)
    yield Finding(
        "gpu-count",
        f"{machine_type} has {' or '.join(allowed)} {family.name}, not {count}",
        allowed=", ".join(allowed),
        fix=f"gpus: {allowed[0]}" + (f", or {others}" if others else ""),
    )


def zone(machine_type: str, zone: str) -> Iterator[Finding]:
    """GKE offers the family in the zone: an error where it is known not to, a warning where the zone is not known."""
    family = accelerators.family_of(machine_type)
    if family is None or zone in zones.GKE_ZONES[family.name]:
        return
    offered = listed(zones.GKE_ZONES[family.name])
    if not ZONE.fullmatch(zone):
        yield Finding(
            "tpu-zone",
            f"{zone!r} is not a zone name",
            allowed=offered,
            fix="set a zone, not a region" if zone else "name a zone",
        )
    elif zone in zones.known_zones() or zones.region_of(zone) in {zones.region_of(z) for z in zones.known_zones()}:
        yield Finding(
            "tpu-zone",
            f"GKE has no {family.name} in {zone} (as of {zones.ZONES_AS_OF}); zones of TPU VMs or of the price "
            "list need not have TPU node pools in GKE",
            allowed=offered,
            fix="move the cluster to one of these zones",
        )
    else:
        meant = difflib.get_close_matches(zone, zones.GKE_ZONES[family.name], n=1, cutoff=0.85)
        yield Finding(
            "tpu-zone",
            f"it is unknown whether GKE has {family.name} in {zone} (as of {zones.ZONES_AS_OF})",
            allowed=offered,
            fix=f"did you mean {meant[0]}?"
            if meant
            else "ignore this if the zone is newer than this list; otherwise use one of these",
            severity="warning",
        )


def node_counts(
    machine_type: str, topology: str, limits: tuple[int, int], keys: tuple[str, str] = ("minNodes", "maxNodes")
) -> Iterator[Finding]:
    """Node counts fit: a single-host pool has 0 to N independent nodes, a multi-host slice all of its nodes or none.

    ``keys``: where the two ``limits`` are written.
    """
    (minimum, maximum), (least, most) = limits, keys
    if minimum > maximum:
        yield Finding(
            "tpu-node-count",
            f"{least} {minimum} is more than {most} {maximum}",
            allowed=f"{least} <= {most}",
            fix=f"set {most} to {minimum} or more",
        )
        return
    slice_ = accelerators.find_slice(machine_type, topology)
    if slice_ is None or not slice_.multi_host:
        return
    wrong = [f"{least} to 0"] if minimum not in (0, slice_.hosts) and least != most else []
    wrong += [f"{most} to {slice_.hosts}"] if maximum != slice_.hosts else []
    if wrong:
        yield Finding(
            "tpu-node-count",
            f"a {topology} slice of {machine_type} is scaled as one unit of {slice_.hosts} nodes, not from "
            f"{minimum} to {maximum}",
            allowed=f"{least} 0 or {slice_.hosts}, {most} {slice_.hosts}",
            fix=f"set {' and '.join(wrong)}",
        )


def gke_version(machine_type: str, minimum: str) -> Iterator[Finding]:
    """The oldest control plane that the settings accept supports the family."""
    family = accelerators.family_of(machine_type)
    if family is None or family.minimum_gke is None:
        return
    if is_older(minimum, family.minimum_gke):
        yield Finding(
            "tpu-gke-version",
            f"{machine_type} needs GKE {family.minimum_gke} or newer, but the settings accept {minimum}",
            allowed=f"minVersion {family.minimum_gke} or newer",
            fix=f"set llmd-gke:cluster.minVersion to {family.minimum_gke}",
        )


def same_region(zone: str, cluster_zone: str) -> Iterator[Finding]:
    """Nodes are in the region of their cluster."""
    region = zones.region_of(cluster_zone)
    if ZONE.fullmatch(zone) and zones.region_of(zone) != region:
        yield Finding(
            "tpu-pool-region",
            f"{zone} is not in the cluster's region, {region}",
            allowed=f"a zone of {region}",
            fix="remove the pool's zone, or create another stack for that region",
        )


def boot_disk(machine_type: str, disk_type: str) -> Iterator[Finding]:
    """The machine takes the type of the boot disk: v6e supports only Hyperdisk Balanced, not the default."""
    family = accelerators.family_of(machine_type)
    if family is not None and disk_type not in family.boot_disks:
        yield Finding(
            "tpu-boot-disk",
            f"disk type {disk_type} cannot be attached to {machine_type}",
            allowed=listed(family.boot_disks),
            fix=f"set diskType to {family.boot_disks[0]}",
        )


def placement(machine_type: str, topology: str, placement_type: str | None) -> Iterator[Finding]:
    """Single-host pools have no placement policy; multi-host ones need COMPACT (tpu7x: a workload policy instead).

    GKE rejects a pool of single hosts with a topology (AI-Hypercomputer/xpk ``nodepool.py``), and a multi-host pool
    without one never forms a slice.
    """
    slice_ = accelerators.find_slice(machine_type, topology)
    family = accelerators.family_of(machine_type)
    if slice_ is None or family is None:
        return
    if not slice_.multi_host and placement_type:
        yield Finding(
            "tpu-placement",
            f"a single-host {topology} pool must not have a placement policy",
            allowed="no placement policy",
            fix="remove the placement policy",
        )
    elif slice_.multi_host and not family.workload_policy and placement_type != "COMPACT":
        yield Finding(
            "tpu-placement",
            f"a multi-host {topology} pool needs placement type COMPACT with its topology",
            allowed="COMPACT",
            fix=f"set the placement policy to COMPACT and its TPU topology to {topology}",
        )
