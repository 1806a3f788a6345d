"""The first update of a stack as a schedule: what starts when, and the chain that nothing can shorten.

Pure: a recorded graph, settings and the dated durations of :mod:`llmd_gke.catalog.durations`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from llmd_gke.catalog import durations, kserve
from llmd_gke.catalog import models as catalogue
from llmd_gke.catalog.durations import Duration
from llmd_gke.graph.parts import is_resource, kind_of
from llmd_gke.graph.resources import Graph, ResourceNode
from llmd_gke.settings import ModelSettings, StackSettings
from llmd_gke.settings.sections.pools import PoolSettings

NODE_POOL = "gcp:container/nodePool:NodePool"
JOB = "kubernetes:batch/v1:Job"
RELEASE = "kubernetes:helm.sh/v3:Release"
POLICY = "/policy"
HOST = "/host"
NODES = "-nodes"
"""End of the name of a node pool (``components/pool.py``)."""
EARLY = "-early-job"
"""End of the name of the Job whose pods ask for a pool's early hosts (``components/early_hosts.py``)."""
SERVICE = f"kubernetes:{kserve.API_VERSION}:{kserve.SERVICE}"


@dataclass(frozen=True)
class TimelineStep:
    """One step: seconds from the begin of the update at which it starts, how long it takes, and the figure's source."""

    name: str
    start: float
    seconds: float
    source: str

    @property
    def end(self) -> float:
        """Seconds from the begin of the update at which it ends."""
        return self.start + self.seconds


@dataclass(frozen=True)
class Timeline:
    """All steps in the order of their start, when each model answers, and the longest chain."""

    steps: tuple[TimelineStep, ...]
    first_token: Mapping[str, float]
    chain: tuple[TimelineStep, ...]

    @property
    def total(self) -> float:
        """Seconds until the last step ends."""
        return max((step.end for step in self.steps), default=0.0)


def download(model: ModelSettings) -> Duration:
    """How long a model's weights take from Hugging Face to a node, or into a bucket."""
    return Duration(_gigabytes(model) / durations.DOWNLOAD_GB_PER_SECOND, durations.DOWNLOAD_SOURCE)


def weights(model: ModelSettings) -> Duration:
    """How long a server waits for its weights, from a bucket or from Hugging Face."""
    if catalogue.bucket_of(model.weights_uri) is None:
        return download(model)
    if model.parallel_download:
        return Duration(_gigabytes(model) / durations.FILE_CACHE_GB_PER_SECOND, durations.FILE_CACHE_SOURCE)
    return Duration(_gigabytes(model) / durations.BUFFERED_GB_PER_SECOND, durations.BUFFERED_SOURCE)


def _gigabytes(model: ModelSettings) -> float:
    size = catalogue.size(model.uri)
    return durations.UNKNOWN_GB if size is None else size.gb


def start_of_model(
    model: ModelSettings, settings: StackSettings, *, again: bool = False
) -> tuple[tuple[str, Duration], ...]:
    """The steps from a pod until the server answers, one after the other: the first is the start of a host, unless the
    model's pool always keeps enough. ``again`` as below.
    """
    on_host, pool = start_on_host(model, again=again), settings.pool(model.pool)
    return on_host if _are_enough(pool.kept_nodes, model, settings) else (("host", host(pool)), *on_host)


def start_on_host(model: ModelSettings, *, again: bool = False) -> tuple[tuple[str, Duration], ...]:
    """The steps from a pod on a host that is ready until the server answers, one after the other.

    ``again``: an earlier replica has filled the model's compile cache, which the first one finds empty.
    """
    filled = again and model.compile_cache is not None
    return (
        ("image", durations.IMAGE),
        ("weights", weights(model)),
        ("initialise", durations.INITIALISE),
        ("compile", durations.COMPILE_CACHED if filled else durations.COMPILE_COLD),
        ("warm-up", durations.WARM_UP if model.warm_up else Duration(0)),
        ("policy", durations.POLICY_IN_FORCE),
    )


def seconds_of_another_replica(model: ModelSettings, what_if: Mapping[str, float] | None = None) -> float:
    """Seconds until the first token of one more replica, on a host that is ready and has the image.

    ``what_if`` as in :func:`simulate`.
    """
    steps = [one for one in start_on_host(model, again=True) if one[0] not in ("image", "policy")]
    return _in_a_row(model, steps, what_if or {})


def seconds_from_zero(
    model: ModelSettings, settings: StackSettings, what_if: Mapping[str, float] | None = None
) -> float:
    """Seconds from a request for a model without servers, which is idle, until the first token; for a model with a
    schedule, from the beginning of its hours. It has no host but those that its pool always keeps.

    ``what_if`` as in :func:`simulate`.
    """
    steps = [one for one in start_of_model(model, settings, again=True) if one[0] != "policy"]
    if model.idle_after_seconds is not None:
        steps.insert(0, ("request", durations.REQUEST_NOTICED))
    return _in_a_row(model, steps, what_if or {})


def _in_a_row(model: ModelSettings, steps: Sequence[tuple[str, Duration]], other: Mapping[str, float]) -> float:
    return sum(other.get(f"{model.name}-service/{name}", other.get(name, step.seconds)) for name, step in steps)


def has_early_host(model: ModelSettings, settings: StackSettings) -> bool:
    """Whether a host that starts with the pool, or that a Job asks for, is left for the model, even if all others on
    the pool come first. The Job's pods take hosts that start with the pool before they ask for more.
    """
    pool = settings.pool(model.pool)
    return _are_enough(max(_first_nodes(pool), pool.early_hosts), model, settings)


def waits_for_job(model: ModelSettings, settings: StackSettings) -> bool:
    """Whether the model's first host is one that a Job asks for: those that start with the pool may all be taken."""
    first = _first_nodes(settings.pool(model.pool))
    return has_early_host(model, settings) and not _are_enough(first, model, settings)


def _first_nodes(pool: PoolSettings) -> int:
    """Number of hosts that start with the pool, in all of its node pools."""
    return sum(one.first_nodes for one in pool.node_pools)


def _are_enough(nodes: int, model: ModelSettings, settings: StackSettings) -> bool:
    """Whether one replica of the model has its hosts among so many of its pool, even if all others on it come first."""
    others = [other for other in settings.models if other.pool == model.pool and other.name != model.name]
    replicas = 1 + sum(other.most_replicas for other in others)
    return nodes >= replicas * settings.pool(model.pool).slice.hosts


def host(pool: PoolSettings) -> Duration:
    """From a pod without a host until a host of the node pool is ready; of a list of capacities, of the first one.

    A flex-start host also waits for capacity, which no figure foresees.
    """
    return durations.HOST_RESERVED if pool.provisioning == "reservation" else durations.HOST_FROM_ZERO


def clock(seconds: float) -> str:
    """Minutes and seconds: ``12:05``."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def seconds_to_wake(model: ModelSettings, settings: StackSettings) -> float:
    """Seconds from the start of a stopped model, in a cluster that is up, until the first token."""
    steps = [duration.seconds for _, duration in start_of_model(model, settings, again=True)]
    return max(sum(steps[:-1]), steps[-1])  # the policies come into force while the pods start


def simulate(graph: Graph, settings: StackSettings, what_if: Mapping[str, float] | None = None) -> Timeline:
    """The schedule with unlimited parallelism. ``what_if`` replaces seconds, by the name of a step or of a resource's
    kind (``Cluster``, ``compile``).

    A model answers once its pods do and the load balancer applies its routes and policies, which happens beside them.
    """
    other = dict(what_if or {})
    by_name = {model.name: model for model in settings.models}
    done: dict[str, tuple[TimelineStep, ...]] = {}
    steps: list[TimelineStep] = []
    policies: dict[str, tuple[TimelineStep, ...]] = {}
    hosts: dict[str, tuple[TimelineStep, ...]] = {}
    for node in graph.in_order():
        before = sorted(one for one in graph.before(node, direct=True) if one in done)  # of equal ends, always the same
        chain = max((done[one] for one in before), key=_end, default=())
        for name, duration in _steps(node, by_name, settings):
            if name == f"{node.name}/image" and waits_for_job(model := by_name[_model_of(node)], settings):
                chain = max(chain, hosts.get(model.pool, ()), key=_end)
            changed = next((other[key] for key in _keys(name, node) if key in other), None)
            seconds = duration.seconds if changed is None else changed
            step = TimelineStep(name, _end(chain), seconds, duration.source if changed is None else "what if")
            if name.endswith(POLICY):
                policies[node.urn] = (step,)
                continue
            steps.append(step)
            if node.type == JOB and name.endswith(HOST):  # the update does not wait for it
                hosts[node.name.removesuffix(EARLY)] = (*chain, step)
                continue
            chain = (*chain, step)
        done[node.urn] = chain
    first: dict[str, float] = {}
    for urn, (policy,) in policies.items():
        node = graph.nodes[urn]
        routed = max((done[one] for one in _beside(graph, node)), key=_end, default=())
        created = next(step.end for step in steps if step.name == node.name)
        policy = replace(policy, start=max(_end(routed), created))
        steps.append(policy)
        done[urn] = max(done[urn], (*routed, policy), key=_end)
        first[_model_of(node)] = _end(done[urn])
    longest = max(done.values(), key=_end, default=())
    return Timeline(tuple(sorted(steps, key=lambda step: (step.start, step.name))), first, longest)


def _beside(graph: Graph, service: ResourceNode) -> list[str]:
    """A model's routes and policies, and all else that its component creates without waiting for the service."""
    beside = [node for node in graph.nodes.values() if node.parent == service.parent and node.urn != service.urn]
    return [node.urn for node in beside if not graph.comes_before(service, node)]


def seconds_without_platform(graph: Graph, settings: StackSettings, model: ModelSettings) -> float:
    """Seconds until the first token if the model waited only for its node pool, and for the Job that copies its
    weights, whose node exists when that pool does: no order of the graph is faster.
    """
    pool = settings.pool(model.pool)
    first = f"{pool.node_pools[0].name}{NODES}"
    made = next(step.end for step in simulate(graph, settings).steps if step.name == first)
    copied = 0 if model.weights_cache is None else download(model).seconds
    on_host = sum(step.seconds for name, step in start_on_host(model) if name != "policy")
    return made + max(host(pool).seconds, copied) + on_host


def first_token_by_capacity(
    graph: Graph, settings: StackSettings, what_if: Mapping[str, float] | None = None
) -> dict[str, dict[str, float]]:
    """Seconds until the first token of each model on a list of capacities, by the node pool that provides its hosts;
    without models that have enough hosts which start with the pool, because their pods ask for none.

    ``what_if`` as in :func:`simulate`; a duration of the host in it replaces those of all node pools.
    """
    changed = what_if or {}
    seconds: dict[str, dict[str, float]] = {}
    for model in settings.models:
        pool = settings.pool(model.pool)
        if model.stopped or not pool.entries or _are_enough(_first_nodes(pool), model, settings):
            continue
        seconds[model.name] = {}
        # Hosts that an entry always keeps start whichever entry provides the next one.
        asked = () if "host" in changed else (f"{model.name}-service{HOST}", f"{pool.name}{EARLY}{HOST}")
        for one in pool.node_pools:
            other = {**dict.fromkeys(asked, host(one).seconds), **changed}
            seconds[model.name][one.name] = simulate(graph, settings, other).first_token[model.name]
    return seconds


def allowed_what_if(graph: Graph, settings: StackSettings) -> set[str]:
    """The names that ``what_if`` of :func:`simulate` may have."""
    by_name = {model.name: model for model in settings.models}
    return {
        key for node in graph.nodes.values() for name, _ in _steps(node, by_name, settings) for key in _keys(name, node)
    }


def _model_of(service: ResourceNode) -> str:
    return service.name.removesuffix("-service")


def _keys(name: str, node: ResourceNode) -> tuple[str, ...]:
    """By what a step can be named, the most exact first. A resource's kind means its creation, not what follows."""
    short = name.rsplit("/", 1)[-1]
    return (name, kind_of(node)) if short == name else (name, short)


def _steps(
    node: ResourceNode, models: Mapping[str, ModelSettings], settings: StackSettings
) -> list[tuple[str, Duration]]:
    if not is_resource(node):
        return []
    if node.type == JOB and (copied := models.get(node.name.removesuffix("-weights-job"))) is not None:
        return [(node.name, download(copied))]
    own = durations.BY_TYPE.get(node.type, durations.OTHER)
    if node.type == RELEASE:
        own = durations.BY_CHART.get(str(node.inputs["name"]), own)
    starts = {f"{pool.name}{NODES}": pool for pool in settings.node_pools if pool.first_nodes} | {
        f"{pool.name}{EARLY}": pool for pool in settings.pools if pool.early_hosts > _first_nodes(pool)
    }
    if node.type in {NODE_POOL, JOB} and node.name in starts:
        return [(node.name, own), (f"{node.name}{HOST}", host(starts[node.name]))]
    model = models.get(_model_of(node)) if node.type == SERVICE else None
    if model is None or model.stopped:
        return [(node.name, own)]
    start = start_on_host(model) if has_early_host(model, settings) else start_of_model(model, settings)
    return [(node.name, own), *((f"{node.name}/{name}", step) for name, step in start)]


def _end(chain: tuple[TimelineStep, ...]) -> float:
    return chain[-1].end if chain else 0.0


def gantt(timeline: Timeline, title: str) -> str:
    """A Mermaid Gantt chart of the steps of at least 15 seconds; those of the longest chain are marked."""
    chain = {step.name for step in timeline.chain}
    lines = ["gantt", f"  title {title}", "  dateFormat X", "  axisFormat %H:%M", "  section steps"]
    for step in timeline.steps:
        if step.seconds >= 15:
            mark = "crit, " if step.name in chain else ""
            label = step.name.replace(":", " ")
            lines.append(f"  {label} :{mark}{round(step.start)}, {max(round(step.end), round(step.start) + 1)}")
    return "\n".join(lines)
