"""What runs where KEDA makes the replicas of a stack's models follow their load, with Prometheus.

GKE's managed adapter of metrics needs neither: :mod:`localcloud.metrics_adapter`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from llmd_common.problems import Stale
from localcloud.common import cluster_status
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir
from localcloud.monitoring import options
from localcloud.workflow.settings import settings_of

PROGRAMS = (*options.PROGRAMS, "keda-operator", "keda-metrics-apiserver", "keda-admission-webhooks")
"""What is built."""
COLLECTORS = "monitoring"
"""The process that runs Prometheus."""


def without_servers(workdir: Workdir, stack: str, now: datetime) -> Mapping[str, str]:
    """The models that are not stopped, but may have no server now, with the reason."""
    reasons: dict[str, str] = {}
    for model in settings_of(workdir, stack).models:
        if model.idle_after_seconds is not None and not model.stopped:
            reasons[model.name] = "has no server while it is idle"
        elif not model.serves_at(now) and not model.stopped:
            reasons[model.name] = "has no server outside of its hours"
    return reasons


def check_collected(workdir: Workdir, stack: str) -> None:
    """Raises ``Stale`` if the cluster runs and collects no metrics: it was started for a stack without autoscaling."""
    status = cluster_status.read(Layout(workdir.home).status)
    if status and COLLECTORS not in [one.name for one in status.processes]:
        raise Stale(
            f"llmd-gke:models of stack {stack}: KEDA needs the load of the models, and this {workdir.label} was "
            "started without Prometheus.\n"
            f"Fix: `{workdir.make('down')}`, then `{workdir.make('up', stack)}`, which starts it with Prometheus."
        )
