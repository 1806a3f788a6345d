"""Which versions of a model a rollout may name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from llmd_gke.rules.finding import Finding

RULE = "rollout"


def names(versions: Sequence[str], to: str, stable: str | None) -> Iterator[tuple[str, Finding]]:
    """Requests move between two versions that are there. Each finding comes with the key of the rollout."""
    listed = ", ".join(versions)
    for key, version in (("to", to), ("stable", stable)):
        if version is not None and version not in versions and len(versions) != 1:
            others = [one for one in versions if one not in (to, stable)] or versions
            finding = Finding(
                RULE,
                f"there is no version {version}" + ("" if versions else ": the model has no versions"),
                allowed=listed or "rollout only with versions",
                fix=f"{key}: {others[-1]}" if versions else "list the versions, or remove rollout",
            )
            yield key, finding
            return
    if to == stable or len(versions) == 1:
        finding = Finding(
            RULE,
            f"{versions[0] if len(versions) == 1 else to} would answer all requests whatever the percent",
            allowed="two versions",
            fix="remove rollout" if len(versions) == 1 else f"stable: {next(o for o in versions if o != to)}",
        )
        yield "to", finding


def sticky(*, behind_door: bool) -> Iterator[Finding]:
    """Only the front door knows who calls."""
    if not behind_door:
        yield Finding(
            "rollout-sticky",
            "the load balancer divides requests, and does not know callers",
            allowed="sticky only with llmd-gke:frontDoor",
            fix="remove sticky, or set llmd-gke:frontDoor",
        )


def namespaces(namespace: str, others: str, *, behind_door: bool) -> Iterator[Finding]:
    """The load balancer divides requests between backends of one namespace."""
    if namespace != others and not behind_door:
        yield Finding(
            "rollout-namespace",
            f"the other versions are in the namespace {others}, and the load balancer divides requests within one",
            allowed="namespaces of their own only with llmd-gke:frontDoor",
            fix="remove namespace, or set llmd-gke:frontDoor",
        )
