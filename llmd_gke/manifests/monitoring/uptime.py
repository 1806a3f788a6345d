"""Uptime checks: Google's checkers call each model from outside, through the gateway, as clients do.

Sources: https://cloud.google.com/monitoring/uptime-checks and the fields of ``UptimeCheckConfig`` in
https://monitoring.googleapis.com/$discovery/rest?version=v3.
"""

from __future__ import annotations

from dataclasses import dataclass

from llmd_gke.manifests.alerts import check_name
from llmd_gke.settings import StackSettings

TIMEOUT_SECONDS = 10
HEALTH = "/health"
"""Path of the check: the one of :data:`llmd_gke.catalog.endpoints.LISTING` whose response has no body."""


@dataclass(frozen=True)
class UptimeCheck:
    """The check of ``model``. ``host`` is ``None`` if the gateway has no domain. ``validate_ssl``: whether its
    certificate is for that host.
    """

    model: str
    title: str
    host: str | None
    path: str
    use_ssl: bool
    validate_ssl: bool


def checks(settings: StackSettings) -> tuple[UptimeCheck, ...]:
    """One check for each model of an external gateway that always runs; none for an internal one, which Google cannot
    reach, and none for a model with a schedule, which does not answer outside of its hours.

    Behind a front door there are none: a checker has no key, and the models' paths are closed.
    """
    gateway, door = settings.gateway, settings.front_door
    if door is not None and not door.keep_paths:
        return ()
    if gateway.exposure != "external" or not settings.monitoring.uptime_check:
        return ()
    tls = gateway.tls is not None
    return tuple(
        UptimeCheck(
            model=model.name,
            title=check_name(settings, model),
            host=gateway.domain,
            path=f"{model.path}{HEALTH}",
            use_ssl=tls,
            # Google's checkers cannot validate a certificate for an IP address.
            validate_ssl=tls and gateway.domain is not None,
        )
        for model in settings.models
        if not model.stopped and not model.scheduled
    )
