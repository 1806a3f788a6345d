"""Rules across the fields of a stack: where each finding belongs, using the checks of :mod:`llmd_gke.checks`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from llmd_gke.catalog import tpu
from llmd_gke.checks import models, names
from llmd_gke.checks import tpu as tpu_checks
from llmd_gke.checks.finding import Finding
from llmd_gke.settings.shapes import ClusterSettings, ModelSettings, StackSettings, TpuPoolSettings

REHEARSAL_PROJECT = "rehearsal"
"""Project id of stacks that only ever run on the stand-ins of ``make up``."""

CLOUD_VARIABLE = "LLMD_GKE_CLOUD"
"""Set by ``make``: which stand-in cloud the engine has been pointed at. Unset means Google Cloud."""


@dataclass(frozen=True)
class Located:
    """A finding and the key it is about, e.g. ``llmd-gke:tpuPools[0].topology``, with the offending value."""

    key: str
    value: object
    finding: Finding


def _at(key: str, value: object, findings: Iterator[Finding]) -> Iterator[Located]:
    for finding in findings:
        yield Located(key, value, finding)


def check(settings: StackSettings) -> Iterator[Located]:
    """Every finding about settings whose shape is right."""
    yield from _at("gcp:project", settings.project, names.project(settings.project))
    yield from _place(settings)
    yield from _cluster(settings.cluster)
    yield from _network(settings)
    for index, pool in enumerate(settings.tpu_pools):
        yield from _pool(f"llmd-gke:tpuPools[{index}]", pool, settings.cluster)
    for index, model in enumerate(settings.models):
        yield from _model(f"llmd-gke:models[{index}]", model, settings)
    yield from _unique(settings)
    yield from _room(settings)
    yield from _gateway(settings)


def _place(settings: StackSettings) -> Iterator[Located]:
    if settings.project == REHEARSAL_PROJECT and not os.environ.get(CLOUD_VARIABLE):
        yield Located(
            "gcp:project",
            settings.project,
            Finding(
                "rehearsal-only",
                "this stack is made for the stand-ins on this machine and must not reach Google Cloud",
                allowed="make up, make preview, or plain pulumi inside `make shell`",
                fix="run `make up`; for Google Cloud use a stack with your project, such as eu4a",
            ),
        )


def _cluster(cluster: ClusterSettings) -> Iterator[Located]:
    key = "llmd-gke:cluster"
    limit = names.CLUSTER_NAME_LIMIT
    yield from _at(f"{key}.name", cluster.name, names.label(cluster.name, "cluster name", limit))
    if cluster.endpoint == "ip" and not cluster.authorized_networks:
        yield Located(
            f"{key}.authorizedNetworks",
            {},
            Finding(
                "control-plane-access",
                "nobody could reach the control plane: its IP endpoint admits authorised networks only",
                allowed="at least one name with its CIDR, or endpoint: dns",
                fix=f"pulumi config set --path '{key}.authorizedNetworks.office' 203.0.113.0/24",
            ),
        )
    pool = cluster.system_pool
    if pool.min_nodes > pool.max_nodes:
        yield Located(
            f"{key}.systemPool.minNodes",
            pool.min_nodes,
            Finding("node-count", f"minNodes {pool.min_nodes} is more than maxNodes {pool.max_nodes}", fix="swap them"),
        )


def _network(settings: StackSettings) -> Iterator[Located]:
    network = settings.network
    ranges = {"nodes": network.nodes, "pods": network.pods, "services": network.services, "proxies": network.proxies}
    yield from _at("llmd-gke:network", ranges, names.disjoint(ranges))


def _pool(key: str, pool: TpuPoolSettings, cluster: ClusterSettings) -> Iterator[Located]:
    machine, topology = pool.machine_type, pool.topology
    yield from _at(f"{key}.name", pool.name, names.label(pool.name, "node pool name", 30))
    yield from _at(f"{key}.machineType", machine, tpu_checks.machine_type(machine))
    yield from _at(f"{key}.topology", topology, tpu_checks.topology(machine, topology))
    yield from _at("llmd-gke:cluster.zone", cluster.zone, tpu_checks.zone(machine, cluster.zone))
    counts = tpu_checks.node_counts(machine, topology, pool.min_nodes, pool.max_nodes)
    yield from _at(f"{key}.minNodes", pool.min_nodes, counts)
    yield from _at(f"{key}.capacity", pool.capacity, tpu_checks.capacity(pool.capacity, machine, cluster.zone))


def _model(key: str, model: ModelSettings, settings: StackSettings) -> Iterator[Located]:
    limit = names.MODEL_NAME_LIMIT
    yield from _at(f"{key}.name", model.name, names.label(model.name, "model name", limit))
    yield from _at(f"{key}.namespace", model.namespace, names.label(model.namespace, "namespace", 63))
    yield from _at(f"{key}.uri", model.uri, models.uri(model.uri))
    yield from _at(f"{key}.uri", model.uri, models.tested_on_tpu(model.uri))
    yield from _at(f"{key}.image", model.image, models.image(model.image))
    yield from _at(f"{key}.extraArgs", list(model.extra_args), models.server_arguments(model.extra_args))
    pool = next((pool for pool in settings.tpu_pools if pool.name == model.pool), None)
    if pool is None:
        known = [pool.name for pool in settings.tpu_pools]
        yield Located(
            f"{key}.pool",
            model.pool,
            Finding("model-pool", f"there is no TPU pool {model.pool}", allowed=", ".join(known), fix=f"pool: {known[0]}"),
        )
        return
    shape = tpu.find_slice(pool.machine_type, pool.topology)
    if shape is not None and shape.multi_host:
        yield Located(
            f"{key}.pool",
            model.pool,
            Finding(
                "model-multi-host",
                f"pool {pool.name} is a multi-host slice of {shape.hosts} nodes, models need a single-host pool so far",
                allowed="a pool of ct6e-standard-1t 1x1, ct6e-standard-4t 2x2 or ct6e-standard-8t 2x4",
                fix="use a single-host pool",
            ),
        )
        return
    if model.tensor_parallel is not None:
        found = models.tensor_parallel(model.tensor_parallel, pool.machine_type, pool.topology)
        yield from _at(f"{key}.tensorParallel", model.tensor_parallel, found)
    yield from _at(f"{key}.uri", model.uri, models.weights(model.uri, pool.machine_type, pool.topology))


def _unique(settings: StackSettings) -> Iterator[Located]:
    seen: set[str] = set()
    for index, pool in enumerate(settings.tpu_pools):
        if pool.name in seen or pool.name == "system":
            finding = Finding("unique-name", f"another pool is called {pool.name}", fix="give each pool its own name")
            yield Located(f"llmd-gke:tpuPools[{index}].name", pool.name, finding)
        seen.add(pool.name)
    models_seen: set[str] = set()
    rooted: str | None = None
    for index, model in enumerate(settings.models):
        key = f"llmd-gke:models[{index}]"
        if model.name in models_seen:
            finding = Finding("unique-name", f"another model is called {model.name}", fix="give each model its own name")
            yield Located(f"{key}.name", model.name, finding)
        models_seen.add(model.name)
        if model.at_root and rooted is not None:
            finding = Finding("root-model", f"{rooted} is at the root already", fix="keep atRoot for one model")
            yield Located(f"{key}.atRoot", True, finding)
        rooted = model.name if model.at_root else rooted


def _room(settings: StackSettings) -> Iterator[Located]:
    for index, pool in enumerate(settings.tpu_pools):
        shape = tpu.find_slice(pool.machine_type, pool.topology)
        if shape is None or shape.multi_host:
            continue
        replicas = [model.replicas for model in settings.models if model.pool == pool.name]
        for finding in tpu_checks.room_for_updates(pool.name, pool.max_nodes, replicas):
            if finding.rule == "tpu-update-room" and pool.updates_need_stop:
                continue
            yield Located(f"llmd-gke:tpuPools[{index}].maxNodes", pool.max_nodes, finding)


def _gateway(settings: StackSettings) -> Iterator[Located]:
    gateway = settings.gateway
    if gateway.exposure != "external":
        return
    if not gateway.allow_plain_http:
        finding = Finding(
            "plain-http",
            "an external gateway would serve plain HTTP without authentication to the Internet",
            allowed="exposure: internal, or allowPlainHttp: true if that is what you want",
            fix="pulumi config set --path llmd-gke:gateway.exposure internal",
        )
        yield Located("llmd-gke:gateway.exposure", gateway.exposure, finding)
    else:
        finding = Finding(
            "plain-http",
            "the gateway serves plain HTTP without authentication to the Internet, as allowPlainHttp asks",
            fix="use it for trials only",
            severity="warning",
        )
        yield Located("llmd-gke:gateway.allowPlainHttp", True, finding)
