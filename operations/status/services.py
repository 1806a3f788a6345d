"""LLMInferenceServices: their pods by stage, explanations of their conditions, and updates that hang."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llmd_common.kubernetes.fields import Object, condition_is_true, conditions, label, name, namespace, number, text
from llmd_gke.catalog import kserve
from llmd_gke.settings import ModelSettings
from operations.printing import short
from operations.status import stages
from operations.status.explanations import KSERVE, find
from operations.status.objects import Line, Snapshot, State, labelled, of

SUMS = ("Ready", "RouterReady", "WorkloadsReady")
"""Conditions that summarize others (kserve ``llm_inference_service_lifecycle.go``)."""


def pods_of(snapshot: Snapshot, where: str, model: str) -> list[Object]:
    """The model's servers, oldest first."""
    pods = labelled(snapshot.pods, where, {kserve.NAME: model, kserve.OWN_COMPONENT: kserve.WORKLOAD})
    return sorted(pods, key=lambda pod: (text(pod, "metadata", "creationTimestamp"), name(pod)))


def lines(snapshot: Snapshot, where: str, model: str, replicas: int, *, stopped: bool, stack: str) -> list[Line]:
    """Everything about one model: servers, picker, update, conditions."""
    service = of(snapshot.services, where, model)
    servers = pods_of(snapshot, where, model)
    lines_ = [stages.line(pod, snapshot.now, snapshot.logs.get((where, name(pod)), "")) for pod in servers]
    if stopped:
        state = State.BUSY if servers else State.GOOD
        return [
            *lines_,
            Line(model, state, "stopped by the settings" + (", its pods are terminating" if servers else "")),
        ]
    if service is None:
        if "services" in snapshot.unreadable:
            return lines_
        fix = f"pulumi up --stack {stack} --policy-pack policies"
        return [*lines_, Line(model, State.BAD, f"LLMInferenceService {where}/{model}", fix)]
    if not servers:
        lines_.append(Line(f"{model}: servers", State.BUSY, f"none of {replicas} pods exists yet"))
    lines_ += map(_picker, labelled(snapshot.pods, where, {kserve.NAME: model, kserve.COMPONENT: kserve.PICKER}))
    lines_ += hanging_update(service, servers, stack)
    return [*lines_, *service_lines(service, stack)]


def asleep(snapshot: Snapshot, model: ModelSettings) -> list[Line]:
    """The line of a model that has no server because of its schedule, or because it is idle; none for other models."""
    servers = pods_of(snapshot, model.namespace, model.name)
    if not model.stopped and not servers and (seconds := model.idle_after_seconds) is not None:
        text = f"no server, as there was no request for {seconds} s: the next one starts it"
        return [Line(model.name, State.GOOD, text)]
    given = model.schedule
    if model.stopped or given is None or model.serves_at(snapshot.now):
        return []
    when = f"outside of its hours ({', '.join(given.hours)} {given.time_zone})"
    if servers:
        return [Line(model.name, State.GOOD, f"{when}; its servers go once it is idle")]
    return [Line(model.name, State.GOOD, f"stopped by its schedule: {when}")]


def _picker(pod: Object) -> Line:
    state, said, fix = stages.picker_position(pod)
    return Line(name(pod), state, f"endpoint picker: {said}", fix)


def hanging_update(service: Object, servers: Sequence[Object], stack: str) -> list[Line]:
    """A line on an update that hangs: a new server waits for chips that the old ones use, while the service is Ready.

    Kubernetes' default for a Deployment (surge 25 %, unavailable 25 %, rounded up and down) is one more, none fewer:
    the old server is deleted only once the new one is ready, and the new one needs a host that only the old one has.
    """
    versions = {label(pod, "pod-template-hash") for pod in servers}
    if len(versions) < 2:
        return []
    newest = label(servers[-1], "pod-template-hash")
    new = [label(pod, "pod-template-hash") == newest for pod in servers]
    steps = [stages.position(pod).stage for pod in servers]
    waiting = sum(is_new and stage is stages.NODE for is_new, stage in zip(new, steps, strict=True))
    serving = sum(not is_new and stage is stages.READY for is_new, stage in zip(new, steps, strict=True))
    if not waiting or not serving:
        return []
    ready = "although KServe reports Ready" if condition_is_true(service, "Ready") else "while the old ones serve"
    return [
        Line(
            f"{name(service)}: update",
            State.BAD,
            f"hangs: {waiting} new server(s) wait for a host {ready}; {serving} of the old version use "
            "the chips and terminate only once a new one is ready",
            f"increase maxNodes of the pool in Pulumi.{stack}.yaml by one, or stop the model for the update "
            "(docs/pools.md)",
        )
    ]


def service_lines(service: Object, stack: str) -> list[Line]:
    """The service's own line, and one for each condition that is not True and has information of its own."""
    where, model = namespace(service), name(service)
    by_type = conditions(service)
    replaced = {"stack": stack, "namespace": where, "name": model}
    lines: list[Line] = []
    generation = number(service, "metadata", "generation") or 0
    if not by_type:
        controller = "kubectl -n kserve get pods"
        return [Line(model, State.BUSY, "KServe's controller has not processed the service yet", controller)]
    if (number(service, "status", "observedGeneration") or 0) < generation:
        lines.append(Line(model, State.BUSY, "KServe has not processed the newest settings yet"))
    parts = {kind: one for kind, one in by_type.items() if kind not in SUMS and text(one, "status") != "True"}
    sums = {kind: one for kind, one in by_type.items() if kind in SUMS and text(one, "status") != "True"}
    # A summary repeats the reason of its part; if no part has one, the summary is the only source.
    for kind, condition in (parts or sums).items():
        lines.append(_condition(model, kind, condition, replaced))
    if condition_is_true(service, "Ready"):
        url = text(service, "status", "url")
        lines.insert(0, Line(model, State.GOOD, "KServe: Ready" + (f", at {url}" if url else "")))
    else:
        # A configuration that cannot be merged leaves Ready at Unknown: Unknown alone does not mean "in progress".
        worst = State.BAD if any(line.state is State.BAD for line in lines) else State.BUSY
        lines.insert(0, Line(model, worst, "KServe: not Ready yet"))
    return lines


def _condition(model: str, kind: str, condition: Object, replaced: Mapping[str, str]) -> Line:
    reason, message = text(condition, "reason"), text(condition, "message")
    explanation = find(KSERVE, reason, message, kind=kind)
    subject = f"{model}: {kind}={text(condition, 'status')}" + (f" ({reason})" if reason else "")
    if explanation is None:
        return Line(subject, State.BUSY, short(message) or "no reason given")
    detail = f": {short(message, 160)}" if message and explanation.state is State.BAD else ""
    return Line(subject, explanation.state, explanation.text + detail, explanation.fix.format(**replaced))
