"""Whether the replicas of a stack's models follow their load, and what runs for them: KEDA, and Prometheus."""

from __future__ import annotations

from typing import cast

from llmd_gke.problems import BadInput, Stale
from llmd_gke.settings import SettingsError
from llmd_gke.settings.load import read_config
from localcloud.common import cluster_status
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir
from localcloud.monitoring import options
from localcloud.workflow.local_settings import MODELS

PROGRAMS = (*options.PROGRAMS, "keda-operator", "keda-metrics-apiserver", "keda-admission-webhooks")
"""What is built."""
COLLECTORS = "monitoring"
"""The process that runs Prometheus."""


def asked(workdir: Workdir, stack: str) -> bool:
    """Whether a model has ``minReplicas``. Raises ``BadInput`` for a stack file that cannot be read."""
    try:
        models = read_config(workdir.root, stack).get(MODELS)
    except SettingsError as error:
        raise BadInput(str(error)) from None
    listed = cast("list[object]", models) if isinstance(models, list) else []
    return any(isinstance(model, dict) and "minReplicas" in model for model in listed)


def check_collected(workdir: Workdir, stack: str) -> None:
    """Raises ``Stale`` if the cluster runs and collects no metrics: it was started for a stack without autoscaling."""
    status = cluster_status.read(Layout(workdir.home).status)
    if status and COLLECTORS not in [one.name for one in status.processes]:
        raise Stale(
            f"{MODELS} of stack {stack}: minReplicas needs the load of the models, and this {workdir.label} was "
            "started without Prometheus.\n"
            f"Fix: `{workdir.make('down')}`, then `{workdir.make('up', stack)}`, which starts it with Prometheus."
        )
