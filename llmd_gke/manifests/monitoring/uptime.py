"""Uptime checks: Google's checkers call the gateway from outside, as clients do: each model at its path, or the front
door.

Sources: https://cloud.google.com/monitoring/uptime-checks and the fields of ``UptimeCheckConfig`` in
https://monitoring.googleapis.com/$discovery/rest?version=v3.
"""

from __future__ import annotations

from dataclasses import dataclass

from llmd_gke.catalog import front_door
from llmd_gke.manifests.alerts import check_name, checked_models, checks_front_door
from llmd_gke.manifests.front_door import listing
from llmd_gke.settings import StackSettings

TIMEOUT_SECONDS = 10
HEALTH = "/health"
"""Path of a model's check: the one of :data:`llmd_gke.catalog.endpoints.LISTING` whose response has no body."""
NO_KEY = 401
"""Status of the front door's answer to a checker, which has no key."""


@dataclass(frozen=True)
class UptimeCheck:
    """One check. ``key``: its name in the stack. ``host`` is ``None`` if the gateway has no domain. ``validate_ssl``:
    whether its certificate is for that host. ``status``: the one that passes (default: every 2xx).
    """

    key: str
    title: str
    host: str | None
    path: str
    use_ssl: bool
    validate_ssl: bool
    status: int | None = None


def checks(settings: StackSettings) -> tuple[UptimeCheck, ...]:
    """One check for each model of an external gateway that always runs; none for an internal one, which Google cannot
    reach, and none for a model with a schedule, which does not answer outside of its hours.

    Behind a front door the models' paths are closed, and a checker has no key. One check then asks for the list of
    models, and passes if it is refused: by the door's proxies, after name, certificate and load balancer.
    """
    calls: list[tuple[str, str, str, int | None]] = [
        (f"{model.name}-uptime", model.name, f"{model.path}{HEALTH}", None) for model in checked_models(settings)
    ]
    if checks_front_door(settings):
        calls.append(("uptime-of-front-door", front_door.NAME, listing.PATH, NO_KEY))
    gateway = settings.gateway
    tls = gateway.tls is not None
    return tuple(
        UptimeCheck(
            key=key,
            title=check_name(settings, what),
            host=gateway.domain,
            path=path,
            use_ssl=tls,
            # Google's checkers cannot validate a certificate for an IP address.
            validate_ssl=tls and gateway.domain is not None,
            status=status,
        )
        for key, what, path, status in calls
    )
