"""What a change does to the servers of models and to the requests that each version gets, by the settings."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.manifests.objects.model import pods
from llmd_gke.rules.pool_capacity import surge_pods
from llmd_gke.settings import ModelSettings, StackSettings
from llmd_gke.settings.sections.versions import Release
from llmd_gke.wording import counted
from operations.comment.outages import start_seconds
from operations.timeline.simulate import clock, host

CLASSES = {
    "weights": ("uri", "weights_cache"),
    "image": ("image",),
    "arguments": ("extra_args",),
    "pool": ("pool",),
}
"""Changes of a model's pods that have a name of their own, by their settings."""


def update(before: ModelSettings, after: ModelSettings, settings: StackSettings) -> str:
    """What replacing the pods of a model takes: order, time without an answer, spare hosts."""
    changed = [
        what for what, fields in CLASSES.items() if any(getattr(before, one) != getattr(after, one) for one in fields)
    ] or ["settings"]
    pool, spare = settings.pool(after.pool), 0
    away = f"about {clock(host(pool).seconds + start_seconds(after))} minutes"
    if pool.slice.multi_host:
        order = "the group of a replica stops before its next one starts"
    elif pool.updates_need_stop and "pool" not in changed:
        order = f"stop {after.name}, deploy this, start it (the pool has no spare host)"
    else:
        copied = "weights" in changed and after.weights_cache is not None
        where = f" on {pool.name}, at whose end the hosts of {before.pool} go" if "pool" in changed else ""
        order = (
            f"{'the Job copies the weights, then ' if copied else ''}a new pod is ready before an old one stops{where}"
        )
        away, spare = "0 minutes", surge_pods(after.most_replicas)
    return (
        f"{after.name} gets other {' and '.join(changed)}: {order}; {away} without an answer, "
        f"{counted(spare, 'spare host')} of {pool.name} meanwhile."
    )


def releases(before: StackSettings | None, after: StackSettings) -> Iterator[str]:
    """A sentence for each model whose pods are replaced, for each version that comes or goes, and for each model whose
    requests are divided in another way.
    """
    old = {} if before is None else {model.name: model for model in before.models if not model.stopped}
    for model in (one for one in after.models if not one.stopped):
        earlier = old.get(model.name)
        if before is not None and earlier is not None:
            if pods(before, earlier) != pods(after, model):
                yield update(earlier, model, after)
        elif model.release is not None:
            yield _new(model, model.release, after)
    yield from _gone(before, after)
    yield from _shares(before, after)


def _new(model: ModelSettings, release: Release, settings: StackSettings) -> str:
    pool = settings.pool(model.pool)
    hosts = model.most_replicas * pool.slice.hosts
    usd = pool.cost(pool.zone_in(settings.cluster.zone), hosts).usd_per_hour
    price = "at a price that is not public" if usd is None else f"for {usd:,.2f} USD an hour"
    minutes = clock(host(pool).seconds + start_seconds(model))
    return (
        f"Version {release.version} of {release.model} is new: {counted(hosts, 'host')} of {pool.name} {price}, and "
        f"about {minutes} minutes until it can answer; no other version stops."
    )


def _gone(before: StackSettings | None, after: StackSettings) -> Iterator[str]:
    names, kept = {model.name for model in after.models}, {model.model_name for model in after.models}
    for model in () if before is None else before.models:
        if model.release is not None and model.name not in names and model.model_name in kept:
            percent = model.release.shares[model.name]
            part = f", which answers {percent} % of its requests," if percent else ""
            yield f"Version {model.release.version} of {model.model_name}{part} is removed: there is no way back to it."


def _shares(before: StackSettings | None, after: StackSettings) -> Iterator[str]:
    old = {} if before is None else _divided(before)
    for name, (shares, sticky) in _divided(after).items():
        earlier = old.get(name, ({}, False))[0]
        if all(earlier.get(one, 0) == part for one, part in shares.items()) or (len(shares) == 1 and not earlier):
            continue
        parts = [
            f"{version} {percent} %" + (f" (before {earlier.get(version, 0)} %)" if earlier else "")
            for version, percent in shares.items()
        ]
        what = "callers: each of them always gets one version" if sticky else "requests: each caller gets both versions"
        yield f"{name} divides its {what if 0 < max(shares.values()) < 100 else 'requests'}: {', '.join(parts)}."


def _divided(settings: StackSettings) -> dict[str, tuple[dict[str, int], bool]]:
    """By model with versions: percent of its requests by version, and whether callers are divided."""
    result: dict[str, tuple[dict[str, int], bool]] = {}
    for release in (model.release for model in settings.models):
        if release is not None:
            shares = result.setdefault(release.model, ({}, release.sticky))[0]
            shares[release.version] = list(release.shares.values())[release.position]
    return result
