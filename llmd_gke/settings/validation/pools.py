"""Rules about TPU pools."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog import accelerators
from llmd_gke.rules import multi_host, names
from llmd_gke.rules import tpu as tpu_checks
from llmd_gke.settings.sections import ClusterSettings, StackSettings, TpuPoolSettings
from llmd_gke.settings.validation.finding_at import SettingFinding, locate

_OWNER = "set the ID of the project that owns it, or remove it"


def pool(key: str, pool: TpuPoolSettings, cluster: ClusterSettings) -> Iterator[SettingFinding]:
    """Checks one pool, whose settings are at ``key``: its name, slice, zone, node counts and capacity."""
    machine, topology = pool.machine_type, pool.topology
    yield from locate(f"{key}.name", pool.name, names.label(pool.name, "node pool name", 30))
    if pool.has_workload_policy:
        policy = pool.workload_policy_name(cluster.name)
        yield from locate(f"{key}.name", pool.name, names.workload_policy(policy, pool.name))
    yield from locate(f"{key}.machineType", machine, tpu_checks.machine_type(machine))
    yield from locate(f"{key}.topology", topology, tpu_checks.topology(machine, topology))
    zone = pool.zone_in(cluster.zone)
    zone_key = f"{key}.zone" if pool.zone else "llmd-gke:cluster.zone"
    yield from locate(zone_key, zone, tpu_checks.same_region(zone, cluster.zone))
    yield from locate(zone_key, zone, tpu_checks.zone(machine, zone))
    version = cluster.min_version
    yield from locate("llmd-gke:cluster.minVersion", version, tpu_checks.gke_version(machine, version))
    counts = tpu_checks.node_counts(machine, topology, pool.min_nodes, pool.max_nodes)
    yield from locate(f"{key}.minNodes", pool.min_nodes, counts)
    mode = pool.capacity
    yield from locate(f"{key}.capacity", mode, tpu_checks.capacity(mode, machine, zone))
    yield from locate(f"{key}.capacity", mode, tpu_checks.flex_start_slice(mode, machine, topology))
    reserved = pool.reservation
    named = reserved.path if reserved else None
    yield from locate(f"{key}.capacity", mode, tpu_checks.capacity_settings(mode, named, pool.max_run_hours))
    if reserved:
        name, block = reserved.name, reserved.block
        yield from locate(f"{key}.reservation.name", name, names.label(name, "reservation name", 63))
        if reserved.project:
            yield from locate(f"{key}.reservation.project", reserved.project, names.project(reserved.project, _OWNER))
        if block:
            yield from locate(f"{key}.reservation.block", block, names.label(block, "reservation block", 63))


def pool_sizes(settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks that every pool has nodes for the replicas of its models, and for the pods that an update adds."""
    for key, pool in zip(settings.pool_keys, settings.pools, strict=True):
        shape = accelerators.find_slice(pool.machine_type, pool.topology)
        if shape is None:
            continue
        # A stopped model has no pods, but it needs hosts again when it starts.
        replicas = [model.running_replicas for model in settings.models if model.pool == pool.name]
        if shape.multi_host:
            findings = multi_host.slices_for_replicas(pool.name, shape, pool.max_nodes, replicas)
        else:
            findings = tpu_checks.surge_capacity(pool.name, pool.max_nodes, replicas)
        for finding in findings:
            if finding.rule == "tpu-update-room" and pool.updates_need_stop:
                continue
            yield SettingFinding(f"{key}.maxNodes", pool.max_nodes, finding)
