"""Rules about upgrades from one version of a component to another."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog.upgrades import Component
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.versions import version_of

RULE = "upgrade"


def findings(component: Component, before: str, after: str) -> Iterator[Finding]:
    """What an upgrade breaks; an error refuses it. Nothing about versions that are no numbers, such as digests."""
    old, new = version_of(before), version_of(after)
    if old is None or new is None:
        return
    step = f"{component.title} {before} to {after}"
    if component.one_minor and (new[0], new[1] - 1) > old[:2]:
        following = f"{old[0]}.{old[1] + 1}"
        yield Finding(
            RULE,
            f"{step}: more than one minor version at once ({component.one_minor})",
            allowed=following,
            fix=f"llmd-gke:cluster.minVersion: '{following}', this command, and then the next minor version",
        )
    if component.charts and new < old:
        fix = "use the release of this program that the stack was brought up with, or a newer one"
        yield Finding(RULE, f"{step}: charts do not go back to older CRDs", allowed=f"{before} or newer", fix=fix)
    for one in component.breaks:
        if old < (version_of(one.at) or ()) <= new:
            problem = f"{step}: {one.what} ({one.source})"
            yield Finding(RULE, problem, allowed=f"from {one.at}", fix=one.fix, severity=one.severity)
