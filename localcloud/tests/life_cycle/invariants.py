"""What has to hold after every step, as pure functions: each returns sentences about what does not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from llmd_gke import google_errors
from localcloud.workflow import failures

Entry = tuple[str, str]
"""Kind and id of an object: ``("gcp:compute/network:Network", "projects/p/global/networks/n")``."""


@dataclass(frozen=True)
class Resource:
    """An entry of the state. ``replaced``: it is still to be deleted, and another one is in its place already."""

    urn: str
    kind: str
    id: str
    replaced: bool = False


@dataclass(frozen=True)
class Seen:
    """Both sides after a step. ``emulated``: the keys of Google's resources as the emulator shows them.

    ``titles``: what people see as the name of an object whose id Google chooses, with its collection. ``pending``: kind
    and name of what a killed engine was creating.
    """

    exists: bool = False
    state: tuple[Resource, ...] = ()
    pending: tuple[Entry, ...] = ()
    cloud: frozenset[Entry] = frozenset()
    emulated: frozenset[str] = frozenset()
    titles: tuple[Entry, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict[str, str])


NOT_COMPARED = frozenset({"gcp:projects/service:Service"})
"""APIs stay enabled when a stack is destroyed: they are the project's."""
NAT = "gcp:compute/routerNat:RouterNat"
MEMBER = "gcp:projects/iAMMember:IAMMember"


CHART_NAMESPACES = frozenset(("v1/Namespace", name) for name in ("cert-manager", "kserve", "lws-system"))
"""Helm makes them for its releases: the state has only our labels on them, and they go with the cluster."""


def nothing_twice(seen: Seen) -> list[str]:
    """One object of each name, in the state and in the cloud."""
    urns = Counter(one.urn for one in seen.state if not one.replaced)
    ids = Counter((one.kind, one.id) for one in seen.state if one.id and not one.replaced)
    return [
        *(f"the state has {urn} {count} times" for urn, count in urns.items() if count > 1),
        *(f"the state has the object {entry} {count} times" for entry, count in ids.items() if count > 1),
        *(f"made {count} times: {entry}" for entry, count in Counter(seen.titles).items() if count > 1),
    ]


def orphans(seen: Seen) -> set[Entry]:
    """Objects of the cloud that are not in the state."""
    return set(seen.cloud) - {(one.kind, one.id) for one in seen.state} - CHART_NAMESPACES


def vanished(seen: Seen) -> set[Entry]:
    """Objects of the state that are not in the cloud."""
    compared = {(one.kind, one.id) for one in seen.state if one.id and one.kind not in NOT_COMPARED}
    return compared - seen.cloud


def same_on_both_sides(seen: Seen, command: str = "up") -> list[str]:
    """The cloud holds what the state holds, and no operation is unfinished: holds after each command that succeeded.

    A refresh deletes no default pool that an `up` has left.
    """
    left = {one for one in orphans(seen) if command == "refresh" and one[1].endswith(DEFAULT_POOL)}
    return [
        *(f"in the cloud and not in the state: {one}" for one in sorted(orphans(seen) - left)),
        *(f"in the state and not in the cloud: {one}" for one in sorted(vanished(seen))),
        *(f"still to be deleted: {one.kind} {one.id}" for one in seen.state if one.replaced),
        *(f"unfinished: {one}" for one in seen.pending),
    ]


DEFAULT_POOL = "/nodePools/default-pool"
"""GKE makes it with a cluster, and the provider deletes it once the cluster is there."""


def orphans_are_explained(seen: Seen, lost: Collection[str], destroying: bool = False) -> list[str]:
    """After a failure the state may only lack what a killed engine was creating, or kinds whose answers were lost.

    ``destroying``: and objects of a cluster, which leave the state before it.
    """
    kinds = {kind for kind, _ in seen.pending} | {DEFAULT_POOL, *lost}
    left = {one for one in orphans(seen) - left_by(seen, kinds) if not destroying or one[0].startswith("gcp:")}
    return [f"orphaned: {one}" for one in sorted(left)]


def left_by(seen: Seen, lost: Collection[str]) -> set[Entry]:
    """The orphans of these kinds. :data:`DEFAULT_POOL` is a kind of its own, besides that of pools."""
    return {one for one in orphans(seen) if one[0] in lost or (one[1].endswith(DEFAULT_POOL) and DEFAULT_POOL in lost)}


def emulator_agrees(seen: Seen) -> list[str]:
    """What the emulator shows and what its rules know are the same objects."""
    google = {ident for kind, ident in seen.cloud if kind.startswith("gcp:") and kind not in (NAT, MEMBER)}
    return [
        *(f"the emulator shows what its rules do not know: {one}" for one in sorted(seen.emulated - google)),
        *(f"the emulator's rules know what it does not show: {one}" for one in sorted(google - seen.emulated)),
    ]


def nothing_left(seen: Seen) -> list[str]:
    """Both sides are empty: holds after each destroy that succeeded."""
    return [
        *(["the stack still exists"] if seen.exists else []),
        *(f"left in the cloud: {one}" for one in sorted(seen.cloud)),
        *(f"left in the emulator: {one}" for one in sorted(seen.emulated)),
    ]


def as_wanted(seen: Seen, wanted: frozenset[Entry]) -> list[str]:
    """What the settings ask for exists, and nothing else of these kinds: pools and models."""
    kinds = {kind for kind, _ in wanted}
    present = {(kind, ident.rpartition("/")[2]) for kind, ident in seen.cloud if kind in kinds}
    return [
        *(f"the settings want it, the cloud has it not: {one}" for one in sorted(wanted - present)),
        *(f"the cloud has it, the settings do not want it: {one}" for one in sorted(present - wanted)),
    ]


def no_secret(texts: Mapping[str, str], secrets: Iterable[str]) -> list[str]:
    """No secret in plain text: in state, logs, output or arguments of processes."""
    return [
        f"a secret ({secret[:4]}…) in plain text in {name}"
        for secret in secrets
        for name, text in texts.items()
        if secret in text
    ]


def no_traceback(output: str) -> list[str]:
    """Neither Python nor Go gives up in the middle."""
    signs = ("Traceback (most recent call last)", "panic: ", "goroutine 1 [", "the emulator failed:")
    return [f"the output has {sign!r}" for sign in signs if sign in output]


EXPLANATIONS = ("Fix: ", "Stopped. ", "The engine was killed. ")
"""Each names what to do next."""


FIX = "\nFix: "
"""What the program's own errors end with."""


def failure_is_explained(output: str, errors: Iterable[str]) -> list[str]:
    """A failure names cause and fix, and does so for each of the engine's errors."""
    if not any(sign in output for sign in EXPLANATIONS):
        return ["the failure names no fix"]
    flat = " ".join(output.split())
    wrong: list[str] = []
    for error in errors:
        if failures.is_consequence(error) or FIX in error:
            continue
        explained = list(google_errors.explained([error], "dev"))
        if not explained:
            wrong.append(f"no cause and fix for the error: {_shortened(error)}")
        wrong += [f"the cause is not said: {cause}" for cause, _ in explained if cause not in flat]
    return wrong


def _shortened(text: str) -> str:
    return re.sub(r"\s+", " ", text)[:600]
