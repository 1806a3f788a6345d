"""Whether KEDA makes the replicas of a stack's models follow their load, and what runs for it, with Prometheus.

GKE's managed adapter of metrics needs neither: :mod:`localcloud.metrics_adapter`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import cast

from llmd_gke.catalog import versions
from llmd_gke.problems import BadInput, Stale
from llmd_gke.rules import schedule
from llmd_gke.rules.scaling import has_managed_adapter
from llmd_gke.settings import SettingsError
from llmd_gke.settings.load import read_config
from localcloud.common import cluster_status
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir
from localcloud.monitoring import options
from localcloud.workflow.local_settings import CLUSTER, MODELS, Config

PROGRAMS = (*options.PROGRAMS, "keda-operator", "keda-metrics-apiserver", "keda-admission-webhooks")
"""What is built."""
COLLECTORS = "monitoring"
"""The process that runs Prometheus."""


def asked(workdir: Workdir, stack: str) -> bool:
    """Whether KEDA scales a model. Raises ``BadInput`` for a stack file that cannot be read."""
    config = _config(workdir, stack)
    cluster = config.get(CLUSTER)
    table = cast("Config", cluster) if isinstance(cluster, dict) else {}
    version = str(table.get("minVersion", versions.gke_default()))
    return any(_by_keda(model, version) for model in _models(config))


def outside_hours(workdir: Workdir, stack: str, now: datetime) -> frozenset[str]:
    """The models that need not have servers now, because their schedule says so.

    Raises ``BadInput`` for a stack file that cannot be read.
    """
    return frozenset(
        str(model.get("name"))
        for model in _models(_config(workdir, stack))
        if isinstance(model.get("schedule"), dict) and not _is_open(cast("Config", model["schedule"]), now)
    )


def _is_open(hours: Config, now: datetime) -> bool:
    listed = hours.get("hours")
    texts = [str(entry) for entry in cast("list[object]", listed)] if isinstance(listed, list) else []
    return schedule.is_open(str(hours.get("timeZone")), texts, now)


def _config(workdir: Workdir, stack: str) -> Mapping[str, object]:
    try:
        return read_config(workdir.root, stack)
    except SettingsError as error:
        raise BadInput(str(error)) from None


def _models(config: Mapping[str, object]) -> list[Config]:
    models = config.get(MODELS)
    listed = cast("list[object]", models) if isinstance(models, list) else []
    return [cast("Config", model) for model in listed if isinstance(model, dict)]


def _by_keda(model: Config, version: str) -> bool:
    pace = model.get("scaling")
    chosen = cast("Config", pace).get("source") if isinstance(pace, dict) else None
    return "minReplicas" in model and (chosen == "keda" or (chosen is None and not has_managed_adapter(version)))


def check_collected(workdir: Workdir, stack: str) -> None:
    """Raises ``Stale`` if the cluster runs and collects no metrics: it was started for a stack without autoscaling."""
    status = cluster_status.read(Layout(workdir.home).status)
    if status and COLLECTORS not in [one.name for one in status.processes]:
        raise Stale(
            f"{MODELS} of stack {stack}: KEDA needs the load of the models, and this {workdir.label} was "
            "started without Prometheus.\n"
            f"Fix: `{workdir.make('down')}`, then `{workdir.make('up', stack)}`, which starts it with Prometheus."
        )
