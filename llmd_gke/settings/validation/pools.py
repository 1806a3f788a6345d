"""Rules about node pools that models run on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from llmd_gke.catalog import accelerators, versions
from llmd_gke.catalog.zones import Capacity
from llmd_gke.rules import capacity_order, multi_host, names, pool_capacity, slices
from llmd_gke.rules import versions as version_checks
from llmd_gke.rules.finding import Finding
from llmd_gke.settings.sections.cluster import ClusterSettings
from llmd_gke.settings.sections.pools import PoolSettings
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation.finding_at import SettingFinding, locate, of_each

_OWNER = "set the ID of the project that owns it, or remove it"


def pool(key: str, pool: PoolSettings, cluster: ClusterSettings) -> Iterator[SettingFinding]:
    """Checks one pool, whose settings are at ``key``: its name, slice, zone, node counts and capacity."""
    return _of_kind(pool, _pool(key, pool, cluster))


def _of_kind(pool: PoolSettings, findings: Iterable[SettingFinding]) -> Iterator[SettingFinding]:
    """The findings under the names of the rules for the pool's accelerator, such as ``gpu-zone``."""
    for one in findings:
        if one.finding.rule.startswith("tpu-"):
            rule = pool.accelerator.rule(one.finding.rule.removeprefix("tpu-"))
            one = replace(one, finding=replace(one.finding, rule=rule))
        yield one


def _pool(key: str, pool: PoolSettings, cluster: ClusterSettings) -> Iterator[SettingFinding]:
    machine, topology = pool.machine_type, pool.topology_or_gpus
    machine_key, slice_keys = f"{key}.machineType", (f"{key}.machineType", f"{key}.topology")
    yield from locate(f"{key}.name", pool.name, names.label(pool.name, "node pool name", 30))
    if pool.has_workload_policy:
        policy = pool.workload_policy_name(cluster.name)
        yield from locate(f"{key}.name", pool.name, names.workload_policy(policy, pool.name))
    yield from locate(machine_key, machine, slices.machine_type(machine))
    of_gpus = pool.topology is None and not pool.accelerator.topology_label
    shape_key = f"{key}.gpus" if of_gpus else f"{key}.topology"
    yield from locate(shape_key, topology, slices.topology(machine, topology), machine_key)
    if pool.topology is not None and pool.topology.isdecimal():
        finding = Finding("tpu-topology", "topology is for TPUs", fix="set gpus instead")
        yield SettingFinding(f"{key}.topology", pool.topology, finding, (machine_key,))
    if pool.gpus is not None and not of_gpus:
        finding = Finding(
            "tpu-topology", "gpus is for machine types with GPUs, and not beside topology", fix="remove it"
        )
        yield SettingFinding(f"{key}.gpus", pool.gpus, finding, (machine_key,))
    zone = pool.zone_in(cluster.zone)
    zone_key = f"{key}.zone" if pool.zone else "llmd-gke:cluster.zone"
    if not pool.entries or any(entry.zone is None for entry in pool.entries):
        yield from _zone(zone_key, zone, pool, cluster, key)
    counts = slices.node_counts(machine, topology, (pool.min_nodes, pool.max_nodes))
    yield from locate(f"{key}.minNodes", pool.min_nodes, counts, *slice_keys, f"{key}.maxNodes")
    early = pool_capacity.early_hosts(pool.early_hosts, accelerators.find_slice(machine, topology), pool.max_nodes)
    yield from locate(f"{key}.earlyHosts", pool.early_hosts, early, *slice_keys, f"{key}.maxNodes")
    if isinstance(pool.capacity, tuple):
        yield from _in_order(key, zone_key, pool, cluster)
        return
    for setting, value in (
        ("acceptReclaimable", pool.accept_reclaimable),
        ("returnToPreferred", pool.return_to_preferred),
    ):
        if value:
            yield from locate(f"{key}.{setting}", value, capacity_order.without_list(setting), f"{key}.capacity")
    mode = pool.capacity
    offered = pool_capacity.capacity(mode, machine, zone)
    yield from locate(f"{key}.capacity", mode, offered, machine_key, f"{key}.zone", "llmd-gke:cluster.zone")
    yield from locate(f"{key}.capacity", mode, pool_capacity.flex_start_slice(mode, machine, topology))
    size = pool_capacity.flex_start_size(mode, fixed=pool.has_fixed_size, allowed="minNodes: 0", fix="minNodes: 0")
    yield from locate(f"{key}.minNodes", pool.min_nodes, size)
    yield from _reservation(key, f"{key}.capacity", pool)


def control_plane_version(settings: StackSettings) -> Iterator[SettingFinding]:
    """The oldest control plane that is accepted suits the platform and every pool.

    One finding, for the newest version that is needed: its fix is enough for the others.
    """
    version, key = settings.cluster.min_version, "llmd-gke:cluster.minVersion"
    floor = versions.gke_floor()
    needed = {floor: list(locate(key, version, version_checks.gke(version, floor, "minVersion")))}
    for pool_key, pool in zip(settings.pool_keys, settings.pools, strict=True):
        family, machine = accelerators.family_of(pool.machine_type), pool.machine_type
        if family and family.minimum_gke:
            found = locate(key, version, slices.gke_version(machine, version), f"{pool_key}.machineType")
            needed.setdefault(family.minimum_gke, list(found))
    for least in sorted(needed, key=lambda text: version_checks.version_of(text) or (), reverse=True):
        if needed[least]:
            yield from needed[least]
            return


def _zone(key: str, zone: str, pool: PoolSettings, cluster: ClusterSettings, pool_key: str) -> Iterator[SettingFinding]:
    yield from locate(key, zone, slices.same_region(zone, cluster.zone), "llmd-gke:cluster.zone")
    yield from locate(key, zone, slices.zone(pool.machine_type, zone), *of_each([pool_key], "machineType", "zone"))


def _reservation(key: str, mode_key: str, pool: PoolSettings) -> Iterator[SettingFinding]:
    """Checks what belongs to one kind of capacity; ``key``: the pool, or an entry of its list."""
    mode, reserved = pool.provisioning, pool.reservation
    named = reserved.path if reserved else None
    findings = pool_capacity.capacity_settings(mode, named, pool.max_run_hours)
    yield from locate(mode_key, mode, findings, f"{key}.reservation")
    if reserved:
        name, block = reserved.name, reserved.block
        yield from locate(f"{key}.reservation.name", name, names.label(name, "reservation name", 63))
        if reserved.project:
            yield from locate(f"{key}.reservation.project", reserved.project, names.project(reserved.project, _OWNER))
        if block:
            yield from locate(f"{key}.reservation.block", block, names.label(block, "reservation block", 63))


def _in_order(key: str, zone_key: str, pool: PoolSettings, cluster: ClusterSettings) -> Iterator[SettingFinding]:
    """Checks a list of capacities: the list, then each entry as the node pool that it becomes."""
    kinds: list[Capacity] = [entry.kind for entry in pool.entries]
    listed, machine_key = f"{key}.capacity", f"{key}.machineType"
    yield from locate(listed, kinds, capacity_order.length(len(kinds)))
    if not kinds:
        return
    fix = "add an entry of kind on-demand, or set acceptReclaimable: true"
    reclaimable = capacity_order.reclaimable(kinds, accepted=pool.accept_reclaimable, fix=fix)
    yield from locate(listed, kinds, reclaimable, f"{key}.acceptReclaimable")
    for setting, value in (
        ("reservation", pool.reservation and pool.reservation.name),
        ("maxRunHours", pool.max_run_hours),
        ("minNodes", pool.min_nodes or None),
    ):
        if value is not None:
            yield from locate(f"{key}.{setting}", value, capacity_order.belongs_to_entries(setting))
    if (slice_ := accelerators.find_slice(pool.machine_type, pool.topology_or_gpus)) is not None:
        yield from locate(listed, kinds, capacity_order.single_host(pool.name, slice_))
    limits = [one.max_nodes for one in pool.node_pools]
    findings = capacity_order.enough_hosts(pool.name, pool.max_nodes, limits)
    yield from locate(f"{key}.maxNodes", pool.max_nodes, findings, listed)
    kept = [one.min_nodes for one in pool.node_pools]
    findings = capacity_order.kept_within_pool(pool.name, pool.max_nodes, kept)
    yield from locate(f"{key}.maxNodes", pool.max_nodes, findings, listed)
    seen: list[capacity_order.Entry] = []
    for index, (entry, made) in enumerate(zip(pool.entries, pool.node_pools, strict=True)):
        at = f"{listed}[{index}]"
        zone = made.zone_in(cluster.zone)
        if entry.zone:
            yield from _zone(f"{at}.zone", zone, pool, cluster, key)
        mode_key = f"{at}.zone" if entry.zone else zone_key if entry.kind != "flex-start" else f"{at}.kind"
        where = zone if entry.zone else entry.kind
        offered = pool_capacity.capacity(entry.kind, pool.machine_type, zone)
        yield from locate(mode_key, where, offered, machine_key, f"{key}.zone", "llmd-gke:cluster.zone")
        yield from _reservation(at, f"{at}.kind", made)
        if entry.max_nodes is not None:
            findings = capacity_order.within_pool(pool.max_nodes, entry.max_nodes)
            yield from locate(f"{at}.maxNodes", entry.max_nodes, findings, f"{key}.maxNodes")
        counts = slices.node_counts(pool.machine_type, pool.topology_or_gpus, (made.min_nodes, made.max_nodes))
        yield from locate(f"{at}.minNodes", made.min_nodes, counts, machine_key, f"{key}.topology", f"{key}.maxNodes")
        branch = (entry.kind, zone, made.reservation.path if made.reservation else None)
        yield from locate(at, entry.kind, capacity_order.repeated(branch, seen), listed)
        seen.append(branch)


def pool_sizes(settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks that every pool has nodes for the replicas of its models, and for the pods that an update adds."""
    for key, pool in zip(settings.pool_keys, settings.pools, strict=True):
        slice_ = accelerators.find_slice(pool.machine_type, pool.topology_or_gpus)
        if slice_ is None:
            continue
        # A stopped model counts with 0 replicas: its hosts are checked again when it is started.
        replicas = [model.most_replicas for model in settings.models if model.pool == pool.name]
        if slice_.multi_host:
            findings = multi_host.slices_for_replicas(pool.name, slice_, pool.max_nodes, replicas)
        else:
            findings = pool_capacity.surge_capacity(pool.name, pool.max_nodes, replicas)
            early, kept = pool.early_hosts, pool.kept_nodes
            useful = pool_capacity.useful_early_hosts(pool.name, early, kept=kept, replicas=sum(replicas))
            yield from locate(f"{key}.earlyHosts", early, useful)
        for finding in findings:
            if finding.rule == "tpu-update-room" and pool.updates_need_stop:
                continue
            at, value = _asks_for_most(settings, pool.name) or (f"{key}.maxNodes", pool.max_nodes)
            yield from _of_kind(pool, [SettingFinding(at, value, finding, ("llmd-gke:pools", "llmd-gke:models"))])


def _asks_for_most(settings: StackSettings, pool: str) -> tuple[str, int] | None:
    """Key and value of the largest ``maxReplicas`` on a pool; ``None`` if no model on it follows its load."""
    scaled = [
        (f"{key}.maxReplicas", model.most_replicas)
        for key, model in zip(settings.model_keys, settings.models, strict=True)
        if model.pool == pool and model.autoscaled and model.most_replicas
    ]
    return max(scaled, key=lambda one: one[1], default=None)
