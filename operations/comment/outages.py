"""What stops answering while a change is carried out, and for how long by the durations of ``llmd-gke timeline``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from llmd_gke.catalog import durations
from llmd_gke.catalog.upgrades import COMPONENTS, walked
from llmd_gke.rules.upgrades import findings
from llmd_gke.settings import ModelSettings, StackSettings
from llmd_gke.settings.sections.pools import PoolSettings
from operations.comment.changes import Change, Op
from operations.timeline.simulate import NODE_POOL, NODES, RELEASE, SERVICE, clock, host, start_on_host

CLUSTER = "gcp:container/cluster:Cluster"
GATEWAY = "kubernetes:gateway.networking.k8s.io/v1:Gateway"
ADDRESS = "gcp:compute/address:Address", "network-gateway"
"""Type and name of the gateway's address (``components/network.py``)."""
SYSTEM = "cluster-system"
"""The node pool of the system nodes (``components/cluster.py``)."""
LOST: frozenset[Op] = frozenset({"replace", "delete"})


def outages(changes: Sequence[Change], settings: StackSettings, first_token: Mapping[str, float]) -> Iterator[str]:
    """A sentence for each cluster, pool, model, Gateway and address that is replaced, or removed with effect on models.

    ``first_token``: simulated seconds of a first update, by model. An update in place replaces hosts and pods one by
    one, and gives no sentence.
    """
    lost = {(one.type, one.name) for one in changes if one.op in LOST}
    names = {name for type_, name in lost if type_ == NODE_POOL}
    kept = {name for model in settings.models for name in (model.name, model.model_name)}
    for type_, name in sorted(lost):
        if (type_, name) == ADDRESS:
            yield "The gateway gets another address: clients have to use it, and DNS records of others have to change."
        if type_ == SERVICE and name.removesuffix("-service") not in kept:
            yield f"Model {name.removesuffix('-service')} is removed: its path and its name answer 404."
    if any(type_ == CLUSTER for type_, _ in lost):
        times = ", ".join(f"{model} {clock(seconds)}" for model, seconds in sorted(first_token.items()))
        yield (
            "The cluster is replaced, and everything in it is lost: no model answers from its deletion until the new "
            f"cluster serves, as long as a first update takes ({times} minutes). docs/stacks.md says how to go on."
        )
        return
    if any(type_ == GATEWAY for type_, _ in lost):
        seconds = durations.BY_TYPE[GATEWAY].seconds + durations.POLICY_IN_FORCE.seconds
        yield f"The Gateway is replaced: no model answers for about {clock(seconds)} minutes, until the new one does."
    if SYSTEM in names:
        yield (
            "The pool of the system nodes is replaced: endpoint pickers, front door and controllers stop for about "
            f"{clock(durations.BY_TYPE[NODE_POOL].seconds)} minutes, until new nodes run."
        )
    for pool in settings.pools:
        yield from _of_pool(pool, names, changes, settings)
    for model in settings.models:
        if (SERVICE, f"{model.name}-service") in lost:
            yield f"Model {model.name} is replaced: it stops answering for about {clock(start_seconds(model))} minutes."


def platform(changes: Sequence[Change]) -> Iterator[str]:
    """A sentence for each component of the platform whose charts are updated, in the order of upgrades: what restarts,
    and what its new version breaks.
    """
    charts = sorted((chart for one in COMPONENTS for chart in one.charts), key=len)  # the longest match is the last
    updated: dict[str, Change] = {}
    for change in changes:
        if change.type == RELEASE and change.op == "update":
            updated |= dict.fromkeys([one for one in charts if change.name.endswith(one)][-1:], change)
    for component in COMPONENTS:
        mine = [updated[chart] for chart in component.charts if chart in updated]
        if mine:
            versions = (path[1] for one in mine for path in one.details if path[0] == "version")
            before, _, after = next(versions, "").partition(" → ")
            broken = "".join(f" {one.problem}." for one in findings(component, before, after))
            restarts = f"{component.title} is updated; what restarts: {component.restarts}."
            walk = walked(component.key, before, after)
            seen = f" Walked: {walk.line}." if walk else ""
            yield f"{restarts} 0 minutes without an answer, 0 spare hosts.{broken}{seen}"


def _of_pool(pool: PoolSettings, lost: set[str], changes: Sequence[Change], settings: StackSettings) -> Iterator[str]:
    others = {one.name for one in settings.node_pools} - {one.name for one in pool.node_pools}
    mine = [name.removesuffix(NODES) for name in sorted(lost)]
    mine = [name for name in mine if f"{name}-".startswith(f"{pool.name}-") and name not in others]
    if not mine:
        return
    new = {one.name for one in changes if one.type == NODE_POOL and one.op in ("replace", "create")}
    waiting = durations.BY_TYPE[NODE_POOL].seconds + host(pool).seconds
    stay = any(f"{one.name}{NODES}" not in new for one in pool.node_pools)
    for model in (one for one in settings.models if one.pool == pool.name):
        minutes = clock(waiting + start_seconds(model))
        stops = "the replicas there stop" if stay else f"{model.name} stops answering"
        yield (
            f"Node pool {', '.join(mine)} is replaced or removed: {stops} for about {minutes} "
            f"minutes, until new hosts of {pool.name} serve; longer if Google has none."
        )


def start_seconds(model: ModelSettings) -> float:
    """From a host that is ready until the model's first token on it."""
    return sum(duration.seconds for name, duration in start_on_host(model, again=True) if name != "policy")
