"""The stage that a model's pod has reached: node, image, weights, server and XLA compilation, warm-up, ready.

Times: a first deployment (Qwen2.5-3B on v6e: image 20 s, weights 35 s, start of the TPU 30 s, compilation 90 s and
more), llm-d's guides and sgl-project/sglang-jax#1263 (compilation 190 s cold, 86 s with a warm cache on one v6e).
Log lines: vLLM ``entrypoints/openai/api_server.py``, tpu-inference ``runner/compilation_manager.py``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from llmd_common.kubernetes.fields import Object, conditions, each, get, name, namespace, number, text
from operations.printing import last_line, short
from operations.status.objects import Line, State, ago, moment
from operations.symptoms import explain_log


@dataclass(frozen=True)
class Stage:
    """``usual``: usual minimum and maximum duration in minutes. ``budget``: minutes after which it needs attention."""

    key: str
    label: str
    usual: str
    budget: int


NODE = Stage("node", "waits for a node", "about 10 min for a new TPU node", 15)
IMAGE = Stage("image", "pulls images", "1 to 3 min on a new node", 10)
WEIGHTS = Stage("weights", "loads weights", "half a minute for 8 GB, some minutes for 70 GB", 30)
SERVER = Stage("server", "server starts", "1 to 3 min", 10)
COMPILE = Stage("compile", "XLA compiles", "3 to 7 min, 1 to 2 with a compile cache", 15)
WARM_UP = Stage("warm-up", "waits for the first completion", "1 to 5 min", 10)
READY = Stage("ready", "ready", "", 0)
FAILING = Stage("failing", "fails", "", 0)
GOING = Stage("going", "terminating: finishing running requests", "", 0)
STAGES = (NODE, IMAGE, WEIGHTS, SERVER, COMPILE, WARM_UP, READY)

LOADED = re.compile(r"Application startup complete")
COMPILING = re.compile(r"compilation_manager\.py:\d+\] (Precompile|Compilation of|AOT lower)")
"""The engine names ``compilation_config`` before it loads weights, and the manager its cache."""
LOOP_EXITS = 2
LOOP_SECONDS = 600
"""A server that fails within this time, so many times, fails again: it is no longer a start."""

WAITING_FOR_GOOD = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CrashLoopBackOff",
     "CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
)  # fmt: skip
"""Reasons of a waiting container (kubelet) that indicate a problem."""


@dataclass(frozen=True)
class Position:
    """A pod's stage, the time when it began, its state and its explanation."""

    stage: Stage
    since: datetime | None
    detail: str = ""
    fix: str = ""


def position(pod: Object, log: str = "") -> Position:
    """The stage of a model's pod. ``log``: the beginning of its server's log, which tells compilation from start."""
    created = moment(pod, "metadata", "creationTimestamp")
    if get(pod, "metadata", "deletionTimestamp"):
        return Position(GOING, moment(pod, "metadata", "deletionTimestamp"))
    where = f"-n {namespace(pod)}"
    scheduled = conditions(pod).get("PodScheduled")
    if scheduled is None or text(scheduled, "status") != "True":
        return Position(NODE, created, short(text(scheduled, "message")))
    since = moment(scheduled, "lastTransitionTime")
    for status in (*each(pod, "status", "initContainerStatuses"), *each(pod, "status", "containerStatuses")):
        if trouble := _trouble(status):
            fix = f"kubectl {where} logs {name(pod)} -c {name_of(status)} --previous"
            if "mage" in trouble or "Create" in trouble:
                fix = f"kubectl {where} describe pod {name(pod)}"
            return Position(FAILING, since, f"{name_of(status)}: {trouble}", fix)
    if text(pod, "status", "phase") == "Failed":
        return Position(FAILING, since, short(text(pod, "status", "message") or text(pod, "status", "reason")))
    for status in each(pod, "status", "initContainerStatuses"):
        if get(status, "state", "running") and not get(status, "started"):
            return Position(WEIGHTS, moment(status, "state", "running", "startedAt"), name_of(status))
        if get(status, "state", "waiting"):
            return Position(IMAGE, since, text(status, "state", "waiting", "reason"))
    return _running(pod, log, since)


def _running(pod: Object, log: str, since: datetime | None) -> Position:
    statuses = {name_of(status): status for status in each(pod, "status", "containerStatuses")}
    main = statuses.get("main")
    if main is None or not get(main, "state", "running"):
        return Position(IMAGE, since, text(main, "state", "waiting", "reason"))
    started = moment(main, "state", "running", "startedAt")
    if all(get(status, "ready") is True for status in statuses.values()):
        return Position(READY, moment(conditions(pod).get("Ready"), "lastTransitionTime"))
    if get(main, "ready") is not True and not LOADED.search(log):
        return Position(COMPILE if COMPILING.search(log) else SERVER, started)
    if get(main, "ready") is not True:
        return Position(SERVER, started, "the server is running but not ready: it may be overloaded")
    return Position(WARM_UP, started)


def name_of(status: Object) -> str:
    """The container of a status."""
    return text(status, "name")


def _trouble(status: Object) -> str:
    """The problem of a container; empty if there is none."""
    waiting = get(status, "state", "waiting")
    reason = text(waiting, "reason")
    last = get(status, "lastState", "terminated")
    restarts = number(status, "restartCount") or 0
    if reason in WAITING_FOR_GOOD:
        how = f"; exited with {_end(last)}" if last else ""
        detail_text = _last_line(last) or short(text(waiting, "message"), 160)
        return f"{reason}, {restarts} restarts{how}: {detail_text}{_meaning(status, last)}"
    ended = get(status, "state", "terminated")
    if ended and text(ended, "exitCode") != "0":
        return f"exited with {_end(ended)}: {_last_line(ended)}{_meaning(status, ended)}"
    begun, failed = moment(last, "startedAt"), moment(last, "finishedAt")
    again = restarts >= LOOP_EXITS and get(status, "ready") is not True and text(last, "exitCode") not in ("", "0")
    if again and begun and failed and (failed - begun).total_seconds() < LOOP_SECONDS:
        reason = f"{_last_line(last)}{_meaning(status, last)}"
        return f"starts again after {restarts} exits, the last with {_end(last)}: {reason}"
    return ""


def _last_line(terminated: object) -> str:
    """The last line that a container wrote: its message is the end of its log (KServe's ``FallbackToLogsOnError``)."""
    return short(last_line(text(terminated, "message")), 160)


def _meaning(status: Object, terminated: object) -> str:
    """The meaning of a container's end: its name and reason, and its message, the end of the log of KServe's."""
    symptom = explain_log(f"{name_of(status)} {text(terminated, 'reason')}\n{text(terminated, 'message')}")
    return f" ({symptom.cause})" if symptom else ""


def _end(terminated: object) -> str:
    reason, code = text(terminated, "reason"), text(terminated, "exitCode")
    return f"{reason} (status {code})" if reason and reason != "Error" else f"status {code}"


def line(pod: Object, now: datetime, log: str = "") -> Line:
    """The line for a model's pod."""
    current = position(pod, log)
    stage = current.stage
    restarts = sum(number(status, "restartCount") or 0 for status in each(pod, "status", "containerStatuses"))
    again = f", {restarts} restarts" if restarts and stage is not FAILING else ""
    since = f" for {ago(now, current.since)}"
    if stage is READY:
        return Line(name(pod), State.GOOD, f"ready{since}{again}")
    if stage is FAILING:
        return Line(name(pod), State.BAD, f"fails: {current.detail}", current.fix)
    usual = f" (usual: {stage.usual})" if stage.usual else ""
    detail = f": {current.detail}" if current.detail else ""
    step = f"{STAGES.index(stage) + 1}/{len(STAGES)} " if stage in STAGES else ""
    late = current.since is not None and stage.budget and (now - current.since).total_seconds() > 60 * stage.budget
    fix = f"kubectl -n {namespace(pod)} describe pod {name(pod)}" if late else ""
    return Line(
        name(pod),
        State.BUSY,
        f"{step}{stage.label}{since}{usual}{', longer than usual' if late else ''}{again}{detail}",
        fix,
    )


def picker_position(pod: Object) -> tuple[State, str, str]:
    """State of an endpoint picker's pod, with explanation and next command."""
    current = position(pod)
    if current.stage is FAILING:
        return State.BAD, current.detail, current.fix
    statuses = each(pod, "status", "containerStatuses")
    if statuses and all(get(status, "ready") is True for status in statuses):
        return State.GOOD, "ready", ""
    if current.stage is NODE:
        return State.BUSY, f"waits for a node: {current.detail}", ""
    return State.BUSY, "starts", ""
