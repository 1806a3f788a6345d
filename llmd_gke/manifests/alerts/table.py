"""The alerts of a stack.

Metrics have names that both endpoint pickers in use export (:mod:`llmd_gke.catalog.metrics`). ``model`` and
``namespace`` come from the PodMonitorings (:mod:`llmd_gke.manifests.scraping`), so that no client can invent a series
by the ``model`` of a request.
"""

from __future__ import annotations

from llmd_gke.manifests.alerts import edge, objectives, project, replicas, scaling
from llmd_gke.manifests.alerts.alert import Alert
from llmd_gke.settings import StackSettings


def alerts(settings: StackSettings) -> tuple[Alert, ...]:
    """All alerts of a stack, none if ``alerts`` is off. Some exist for a single model.

    Without ``scrape`` the models' own metrics are not collected: alerts that need them are left out.
    """
    monitoring = settings.monitoring
    if not monitoring.alerts:
        return ()
    running = [model for model in settings.models if not model.stopped]
    everything = (
        *(replicas.alerts(settings, running) if running else ()),
        *objectives.alerts(settings, running),
        *scaling.alerts(settings),
        *edge.alerts(settings),
        *project.alerts(settings),
    )
    return tuple(alert for alert in everything if monitoring.scrape or alert.origin != "scraped")
