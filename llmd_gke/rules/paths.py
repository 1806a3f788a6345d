"""Rules about the paths that a model's route forwards to the server. Facts: :mod:`llmd_gke.catalog.endpoints`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from llmd_gke.catalog import endpoints
from llmd_gke.rules.finding import Finding

PATH = re.compile(r"(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+")
"""Segments that begin with no dot: no ``..``, no empty segment, nothing that a proxy would decode or normalise."""


def rules_of_route(extra: int, *, at_root: bool) -> int:
    """Rules of a model's HTTPRoute: one for each path, because a rewrite belongs to a rule; two more at the root."""
    return len(endpoints.SERVED) + extra + (2 if at_root else 0)


def path(value: str) -> Iterator[Finding]:
    """One path of the setting ``paths``."""
    if not PATH.fullmatch(value):
        yield Finding(
            "route-path",
            f"{value!r} is not a path that can be routed",
            allowed="one or more segments, each a slash followed by letters, digits, dots, dashes or underscores; "
            "no / at the end",
            fix="for example /v1/score",
        )
    elif (outer := _below(value, endpoints.SERVED)) is not None:
        yield Finding("route-path", f"{outer} and everything below it is already routed", fix="remove it")
    elif (inner := [endpoint for endpoint in endpoints.INTERNAL if _covers(value, endpoint)]) != []:
        yield Finding(
            "route-path-internal",
            f"{value} exposes {', '.join(inner)} to anyone who can reach the gateway: it reveals or changes the "
            "server's state, or shows other clients' usage",
            fix="call the pod directly instead (kubectl port-forward), or keep the gateway internal",
            severity="warning",
        )


def paths(values: Sequence[str], *, at_root: bool) -> Iterator[Finding]:
    """All entries of ``paths``: each occurs once, and they fit into one HTTPRoute."""
    for index, value in enumerate(values):
        if (outer := _below(value, values[:index])) is not None:
            yield Finding("route-path", f"{value} is already covered by {outer}", fix=f"keep {outer}")
    needed = rules_of_route(len(values), at_root=at_root)
    if needed > endpoints.ROUTE_RULES:
        left = endpoints.ROUTE_RULES - rules_of_route(0, at_root=at_root)
        yield Finding(
            "route-rules",
            f"{len(values)} more paths need {needed} rules, one per path; an HTTPRoute has at most "
            f"{endpoints.ROUTE_RULES}",
            allowed=f"at most {left} more paths" + (" for a model at the root" if at_root else ""),
            fix="use a common prefix, or fewer paths",
        )


def _covers(prefix: str, value: str) -> bool:
    """Whether a path prefix covers ``value``, as PathPrefix does: by whole segments."""
    return value == prefix or value.startswith(f"{prefix}/")


def _below(value: str, prefixes: Sequence[str]) -> str | None:
    return next((prefix for prefix in prefixes if _covers(prefix, value)), None)
