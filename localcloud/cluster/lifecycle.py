"""Steps of `make up`, `preview` and `down` that only the laptop cloud has."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from rich.console import Console

from llmd_common.problems import Stale
from localcloud import binaries
from localcloud.cluster import autoscaling, capacity_check, crashes, front_door, start, variables, vllm
from localcloud.cluster.processes import PROGRAMS
from localcloud.common.environment import clean
from localcloud.common.layout import Layout
from localcloud.common.workdir import PACKAGES, Workdir
from localcloud.gke_gateway.crds import upstream
from localcloud.go_builds import charts
from localcloud.linux_namespaces import discover, enter, rights
from localcloud.monitoring import options
from localcloud.product.settings import StackSettings
from localcloud.workflow import state
from localcloud.workflow.say import say
from localcloud.workflow.settings import settings_of

COUNTING_PICKER = "counting-picker"
"""The endpoint picker of models that limit the requests in flight."""
ISTIO_PROGRAMS = ("pilot-discovery", "pilot-agent")
"""Istio's control plane, and the agent beside each of its Envoys."""


def check(workdir: Workdir, stack: str | None = None) -> None:
    """Variables, rights and memory, before anything is built. Raises ``BadInput`` or ``SetUpFailed``."""
    if stack is not None:
        vllm.check(workdir, stack)
    if discover.running(workdir.home) is None:
        variables.check()
        rights.options()
        capacity_check.check()


def check_data(workdir: Workdir, stack: str) -> None:
    """Checks that the cluster of a stack's state still exists. Raises ``Stale`` if its data were removed by hand."""
    present = state.read(workdir, stack)
    if present and present.ids and not has_data(workdir):
        raise Stale(
            f"Stack {stack} has {len(present.ids)} objects in its state, but the cluster's data in "
            f"{Layout(workdir.home).root} no longer exist: they were removed by hand.\nFix: `make down "
            "CLOUD=laptop` removes the stack's state, then `make up CLOUD=laptop`."
        )


def has_data(workdir: Workdir) -> bool:
    """Whether there is a stopped cluster whose data exist."""
    layout = Layout(workdir.home)
    return (layout.pki / "complete").exists() and (layout.etcd / "member").is_dir()


def ensure_binaries(workdir: Workdir, console: Console, stack: str | None = None) -> None:
    """Builds missing programs, and writes charts and CRDs to files: inside the namespaces there is no network and no
    Go.

    The front door's programs and charts are for stacks that have one, Istio's for those whose Gateway is Istio's, those
    of KEDA for stacks with a model whose replicas follow its load. A second endpoint picker is for stacks with a model
    that limits the requests in flight, vLLM itself for those with a model that asks for it.
    """
    settings = settings_of(workdir, stack) if stack is not None else None
    has_door = settings is not None and settings.front_door is not None
    is_istio = settings is not None and settings.gateway.is_istio
    scaled = settings is not None and settings.scales_by("keda")
    wanted = (
        *binaries.names(),
        *options.programs(),
        *(front_door.PROGRAMS if has_door else ()),
        *(ISTIO_PROGRAMS if is_istio else ()),
        *(autoscaling.PROGRAMS if scaled else ()),
        *([COUNTING_PICKER] if settings is not None and _limits_requests(settings) else []),
    )
    binaries.ensure(wanted, console)
    kubectl = binaries.path("kubectl") if scaled else None
    charts.prepare(workdir.charts, front_door=has_door, istio=is_istio, kubectl=kubectl)
    upstream.prepare(Layout(workdir.home).crds)
    if stack is not None:
        vllm.ensure(workdir, stack, console)


def _limits_requests(settings: StackSettings) -> bool:
    """Whether a model has ``scheduler.saturation.maxConcurrency``, or ``maxNumSeqs``, which takes its place where
    callers have different priorities.
    """
    counted = settings.front_door is not None and settings.front_door.has_priorities
    return any(
        (model.scheduler.saturation is not None and model.scheduler.saturation.max_concurrency is not None)
        or (counted and model.max_num_seqs is not None)
        for model in settings.models
    )


def start_cluster(workdir: Workdir, console: Console, stack: str | None = None) -> None:
    """Starts the cluster unless it runs.

    A stack with a model whose replicas follow its load needs Prometheus: ``Stale`` if the cluster runs without it.
    """
    scaled = stack if stack is not None and settings_of(workdir, stack).scales_by("keda") else None
    optional = options.PROGRAMS if scaled else options.programs()
    start.start(workdir, {name: binaries.path(name) for name in (*PROGRAMS, *optional)}, console)
    if scaled:
        autoscaling.check_collected(workdir, scaled)


def ask_models(workdir: Workdir, stack: str, console: Console) -> int:
    """Sends one chat completion to each model's URL in the outputs. Returns 1 if one of them does not answer."""
    present, running = state.read(workdir, stack), discover.running(workdir.home)
    if present is None or running is None:
        return 1
    front_door.wait(workdir, stack, console)
    address = present.outputs.get("gatewayIp")
    models = cast("Mapping[str, Mapping[str, str]]", present.outputs.get("models") or {})
    reasons = autoscaling.without_servers(workdir, stack, datetime.now(UTC))
    failed = False
    for name, endpoint in models.items():
        if name in reasons:
            say(console, f"\n{name} {reasons[name]}, and need not have one now: it is not asked.")
            continue
        if endpoint.get("stopped"):
            say(console, f"\n{name} is stopped: there is no answer at {endpoint['url']}.")
            continue
        command = enter.command(running.init.pid, [sys.executable, "-P", "-m", "localcloud.cluster.chat"])
        done = subprocess.run(
            command,
            env=clean({}, workdir) | {"PYTHONPATH": str(PACKAGES)},
            input=json.dumps({**endpoint, "address": address, "key": front_door.key(workdir, stack, name)}),
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        say(console, f"\n{done.stdout.rstrip()}")
        failed = failed or done.returncode != 0
    if failed:
        diagnose(workdir, console)
    return 1 if failed else 0


def diagnose(workdir: Workdir, console: Console) -> None:
    """Prints the problems of the cluster, after a failure that they may have caused."""
    for line in crashes.problems(workdir):
        say(console, f"cluster: {line}")
    logs = Layout(workdir.home).logs
    say(console, f"Logs of every process: {logs}; `make status CLOUD=laptop` shows what is running.")


def remove_cluster(workdir: Workdir) -> None:
    """Stops everything and removes the cluster's files."""
    start.stop(workdir)
    root = Layout(workdir.home).root

    def unlock(_function: object, path: str, _error: object) -> None:
        # A pod may have created a folder that its owner cannot write to.
        Path(path).parent.chmod(0o700)
        if Path(path).is_dir() and not Path(path).is_symlink():
            Path(path).chmod(0o700)
            shutil.rmtree(path, ignore_errors=True)
        else:
            Path(path).unlink(missing_ok=True)

    if root.exists():
        shutil.rmtree(root, onerror=unlock)
