"""Requests and tokens by caller and model, from the metrics of the front door's proxies."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from llmd_gke.manifests.dashboard.caller_panels import CALLER, INPUT, MODEL, OUTPUT, TOKEN_TYPE, VERSION, used
from llmd_gke.rules.callers import caller_of
from llmd_gke.settings import StackSettings
from operations.prometheus.client import Prometheus, Series, measured


@dataclass(frozen=True)
class Usage:
    """A caller's use of a model, or of one of its versions by the name in answers; empty without versions."""

    caller: str
    model: str
    version: str
    requests: int
    input_tokens: int
    output_tokens: int
    streams_ended_early: int
    """Streams without a counted end: neither limits nor the tokens here contain what they used. Whole streams of one
    token are among them, too."""


async def ask(prometheus: Prometheus, settings: StackSettings, seconds: int, now: float) -> list[Usage]:
    """The use in the ``seconds`` before ``now``. Raises ``NotAnswered``."""
    asked = used(settings, seconds)
    keys = ("requests", "tokens", "begun", "ended")
    return rows(*await asyncio.gather(*(prometheus.instant(asked[key], now) for key in keys)))


def rows(
    requests: Sequence[Series], tokens: Sequence[Series], begun: Sequence[Series] = (), ended: Sequence[Series] = ()
) -> list[Usage]:
    """One row for each caller, model and version, with the keys of a caller together, the most tokens first."""
    asked = _added(requests)
    read = _added(one for one in tokens if one.labels.get(TOKEN_TYPE) == INPUT)
    written = _added(one for one in tokens if one.labels.get(TOKEN_TYPE) == OUTPUT)
    streams, whole = _added(begun), _added(ended)
    early = {who: max(0, count - whole.get(who, 0)) for who, count in streams.items()}
    result = [
        Usage(*who, *(round(amount.get(who, 0)) for amount in (asked, read, written, early)))
        for who in {*asked, *read, *written, *early}
    ]
    return sorted(result, key=lambda one: (-one.input_tokens - one.output_tokens, one.caller, one.model, one.version))


def _added(series: Iterable[Series]) -> dict[tuple[str, str, str], float]:
    sums: defaultdict[tuple[str, str, str], float] = defaultdict(float)
    for one in measured(list(series)):
        model, version = (one.labels.get(name, "") for name in (MODEL, VERSION))
        sums[caller_of(one.labels.get(CALLER, "")), model, version] += one.value
    return dict(sums)
