"""Rules about TPU pools."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog import tpu
from llmd_gke.checks import names
from llmd_gke.checks import tpu as tpu_checks
from llmd_gke.settings.rules.located import Located, at
from llmd_gke.settings.shapes import ClusterSettings, StackSettings, TpuPoolSettings


def pool(key: str, pool: TpuPoolSettings, cluster: ClusterSettings) -> Iterator[Located]:
    """One pool, at ``key``: its name, slice, zone, node counts and capacity."""
    machine, topology = pool.machine_type, pool.topology
    yield from at(f"{key}.name", pool.name, names.label(pool.name, "node pool name", 30))
    yield from at(f"{key}.machineType", machine, tpu_checks.machine_type(machine))
    yield from at(f"{key}.topology", topology, tpu_checks.topology(machine, topology))
    yield from at("llmd-gke:cluster.zone", cluster.zone, tpu_checks.zone(machine, cluster.zone))
    counts = tpu_checks.node_counts(machine, topology, pool.min_nodes, pool.max_nodes)
    yield from at(f"{key}.minNodes", pool.min_nodes, counts)
    yield from at(f"{key}.capacity", pool.capacity, tpu_checks.capacity(pool.capacity, machine, cluster.zone))


def room(settings: StackSettings) -> Iterator[Located]:
    """Every pool holds its models' replicas and the pods an update starts beyond them."""
    for index, pool in enumerate(settings.tpu_pools):
        shape = tpu.find_slice(pool.machine_type, pool.topology)
        if shape is None or shape.multi_host:
            continue
        replicas = [model.replicas for model in settings.models if model.pool == pool.name]
        for finding in tpu_checks.room_for_updates(pool.name, pool.max_nodes, replicas):
            if finding.rule == "tpu-update-room" and pool.updates_need_stop:
                continue
            yield Located(f"llmd-gke:tpuPools[{index}].maxNodes", pool.max_nodes, finding)
