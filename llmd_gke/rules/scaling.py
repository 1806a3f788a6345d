"""Rules about autoscaled replicas.

Sources: kserve ``pkg/controller/v1alpha2/llmisvc/workload.go`` (``PreserveDeploymentReplicas``: a Deployment's replicas
are left unchanged only if the service specifies none) and ``scaling.go`` (names that it deletes); kedacore/keda v2.21.0
``pkg/scalers/prometheus_scaler.go`` (``ignoreNullValues``).
"""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog import kserve, scaling, versions
from llmd_gke.catalog.accelerators import Slice
from llmd_gke.catalog.metrics import Picker
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from llmd_gke.rules.versions import is_older, version_of
from llmd_gke.wording import counted


def bounds(minimum: int | None, maximum: int | None, *, fixed: int | None) -> Iterator[Finding]:
    """``minReplicas`` and ``maxReplicas`` are set together, ascending, and without ``replicas`` (``fixed``)."""
    if minimum is None and maximum is None:
        return
    if minimum is None or maximum is None:
        missing, given = ("minReplicas", maximum) if minimum is None else ("maxReplicas", minimum)
        yield Finding(
            "replica-bounds",
            f"{missing} is missing: the number of replicas follows the load between two bounds",
            allowed="minReplicas and maxReplicas, or replicas alone",
            fix=f"add {missing}: {1 if minimum is None else given}",
        )
    elif minimum > maximum:
        yield Finding(
            "replica-bounds",
            f"minReplicas {minimum} is more than maxReplicas {maximum}",
            allowed=f"minReplicas of at most {maximum}",
            fix=f"minReplicas: {maximum}, or raise maxReplicas to {minimum}",
        )
    if fixed is not None:
        given = " and ".join(
            f"{key}: {value}"
            for key, value in (("minReplicas", minimum), ("maxReplicas", maximum))
            if value is not None
        )
        yield Finding(
            "replica-bounds",
            f"replicas: {fixed} is set beside {given}: KServe writes a fixed number back whenever the autoscaler "
            "changes it",
            allowed="minReplicas and maxReplicas, or replicas alone",
            fix="remove replicas, or minReplicas and maxReplicas",
        )


def running(threshold: int, sequences: int) -> Iterator[Finding]:
    """Servers that run ``sequences`` requests at once can exceed the threshold of running requests."""
    allowed = scaling.most_running(sequences)
    if threshold > allowed:
        yield Finding(
            "replica-threshold",
            f"runningPerReplica {threshold} is never exceeded: a server runs at most {counted(sequences, 'request')} "
            f"at once (maxNumSeqs), and the autoscaler tolerates {scaling.HPA_TOLERANCE:.0%} more than the threshold",
            allowed=f"at most {allowed}" if allowed else "no number: only the queue shows the load of such a server",
            fix=f"runningPerReplica: {scaling.running_threshold(sequences)}, or remove it" if allowed else "remove it",
        )


def without_bounds() -> Iterator[Finding]:
    """``scaling`` is not set without bounds: the number of replicas only changes between two bounds."""
    yield Finding(
        "replica-bounds",
        "scaling has no effect on a fixed number of replicas",
        allowed="scaling beside minReplicas and maxReplicas",
        fix="add minReplicas and maxReplicas instead of replicas, or remove scaling",
    )


def single_host(pool: str, slice_: Slice) -> Iterator[Finding]:
    """Models on several hosts are not autoscaled: their node pool is one slice, which has room for one replica."""
    if slice_.multi_host:
        yield Finding(
            "replica-autoscaler",
            f"pool {pool} is one slice of {slice_.hosts} hosts, which has room for one replica only",
            allowed="a single-host pool",
            fix="remove minReplicas and maxReplicas, or use a pool of single hosts",
        )


def has_managed_adapter(version: str) -> bool:
    """Whether a control plane of at least this version has GKE's managed adapter, generally available.

    A minor version stands for its newest patch.
    """
    return version_of(version) is not None and not is_older(version, versions.gke_autoscaling_metric())


def source(chosen: scaling.Source | None, version: str, *, scrape: bool) -> Iterator[Finding]:
    """The source of the load exists: the managed adapter, if GKE is new enough, or metrics that KEDA can query.

    ``chosen`` is the setting, ``version`` the cluster's ``minVersion``, ``scrape`` whether metrics are collected.
    """
    least = versions.gke_autoscaling_metric()
    if chosen == "gke" and not has_managed_adapter(version):
        yield Finding(
            "autoscaler-source",
            f"GKE's managed adapter of metrics needs version {least}, and the cluster's minVersion is {version}",
            allowed=f"keda, or gke with cluster.minVersion {least} or newer",
            fix="source: keda",
        )
    if effective_source(chosen, version) == "keda" and not scrape:
        yield Finding(
            "autoscaler-source",
            "KEDA reads the load from Managed Service for Prometheus, and monitoring.scrape is false: nothing is "
            "collected, so the number of replicas would never change",
            allowed="monitoring.scrape: true, or source gke",
            fix="monitoring.scrape: true",
        )


def idle_source(source: scaling.Source) -> Iterator[Finding]:
    """A model that has no servers while idle is scaled by KEDA (``source``): the managed adapter reads servers only."""
    if source != "keda":
        yield Finding(
            "autoscaler-source",
            "GKE's managed adapter of metrics reads the model's servers: while there are none, no request would start "
            "any. KEDA also asks the endpoint picker for requests",
            allowed="idleAfterSeconds with source keda",
            fix="source: keda, or remove idleAfterSeconds",
        )


def effective_source(chosen: scaling.Source | None, version: str) -> scaling.Source:
    """The source that is used: the chosen one, otherwise the managed adapter if the cluster has it."""
    return chosen or ("gke" if has_managed_adapter(version) else "keda")


def target_of(spec: Input) -> str | None:
    """The model whose Deployment an HPA or a ScaledObject scales; ``None`` for other targets and unknown ones.

    A ScaledObject may omit the kind, which is then Deployment.
    """
    target = spec.get("scaleTargetRef")
    kind, name = target.get("kind").text(), target.get("name").text()
    if name is None or kind not in (None, "Deployment") or not name.endswith(kserve.DEPLOYMENT_SUFFIX):
        return None
    return name.removesuffix(kserve.DEPLOYMENT_SUFFIX) or None


def autoscaler(kind: str, name: Input, spec: Input) -> Iterator[Finding]:
    """An HPA or ScaledObject of a model has bounds in order, a name of its own, and does not treat "no data" as 0."""
    if target_of(spec) is None:
        return
    title = name.text() or ""
    if title.endswith(scaling.CONTROLLED_BY_KSERVE):
        yield _autoscaler(
            f"{name.path} {title}: KServe deletes an object of that name, or fails because it is not its own",
            "choose another name, such as NAME-replicas",
        )
    keys = ("minReplicas", "maxReplicas") if kind == scaling.HPA else ("minReplicaCount", "maxReplicaCount")
    low, high = (spec.get(key) for key in keys)
    least, most = low.integer(), high.integer()
    if least is not None and most is not None and least > most:
        yield _autoscaler(f"{low.path} {least} is more than {keys[1]} {most}", "swap them")
    none = least == 0 or (least is None and kind == scaling.SCALED_OBJECT and not low.notes.unknown)
    if none and not any(map(_wakes, spec.get("triggers").each())):
        yield _autoscaler(
            f"{low.path} is {'0' if least == 0 else 'missing, which means 0'}: without pods the endpoint picker's "
            "metrics keep their last value, and clients give up long before a TPU host has started",
            f"{keys[0]}: 1, a trigger of type cron, one that asks for {Picker.ERRORS}, or `stopped` for a model that "
            "nobody uses",
        )
    for trigger in spec.get("triggers").each():
        ignored = trigger.get("metadata", "ignoreNullValues")
        reads_zero = str(ignored.value).lower() != "false" and not ignored.notes.unknown
        if trigger.get("type").text() == "prometheus" and reads_zero:
            yield _autoscaler(
                f'{ignored.path} is not "false": where no data arrives KEDA reads 0, and removes replicas under load',
                'ignoreNullValues: "false"',
            )


def _wakes(trigger: Input) -> bool:
    """Whether a trigger can start servers where there are none: by the clock, or by requests that found no server."""
    if trigger.get("type").text() == scaling.CRON:
        return True
    query = trigger.get("metadata", "query")
    text = query.text()
    return bool(query.notes.unknown) if text is None else Picker.ERRORS in text


def _autoscaler(problem: str, fix: str) -> Finding:
    return Finding("replica-autoscaler", problem, fix=fix)


def contested(model: str, replicas: Input) -> Iterator[Finding]:
    """A service whose Deployment an autoscaler scales has no ``spec.replicas`` (``replicas``)."""
    if replicas.present():
        yield Finding(
            "contested-replicas",
            f"{replicas.path} {replicas.value}: an autoscaler changes the replicas of {model}, and KServe writes this "
            "number back at its next reconciliation",
            allowed="no spec.replicas, or no autoscaler",
            fix="remove spec.replicas: KServe then leaves the Deployment's number alone",
        )
