"""Requests and tokens by caller and model, from the metrics of the front door's proxies."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from llmd_gke.manifests.dashboard.caller_panels import CALLER, INPUT, MODEL, OUTPUT, TOKEN_TYPE, used
from llmd_gke.rules.callers import caller_of
from llmd_gke.settings import StackSettings
from operations.prometheus.client import Prometheus, Series, measured


@dataclass(frozen=True)
class Usage:
    """A caller's use of a model."""

    caller: str
    model: str
    requests: int
    input_tokens: int
    output_tokens: int


async def ask(prometheus: Prometheus, settings: StackSettings, seconds: int, now: float) -> list[Usage]:
    """The use in the ``seconds`` before ``now``. Raises ``NotAnswered``."""
    asked = used(settings, seconds)
    requests, tokens = await asyncio.gather(*(prometheus.instant(asked[key], now) for key in ("requests", "tokens")))
    return rows(requests, tokens)


def rows(requests: Sequence[Series], tokens: Sequence[Series]) -> list[Usage]:
    """One row for each caller and model, with the keys of a caller together, the largest number of tokens first."""
    asked = _added(requests)
    read = _added(one for one in tokens if one.labels.get(TOKEN_TYPE) == INPUT)
    written = _added(one for one in tokens if one.labels.get(TOKEN_TYPE) == OUTPUT)
    result = [
        Usage(*who, round(asked.get(who, 0)), round(read.get(who, 0)), round(written.get(who, 0)))
        for who in {*asked, *read, *written}
    ]
    return sorted(result, key=lambda one: (-one.input_tokens - one.output_tokens, one.caller, one.model))


def _added(series: Iterable[Series]) -> dict[tuple[str, str], float]:
    sums: defaultdict[tuple[str, str], float] = defaultdict(float)
    for one in measured(list(series)):
        sums[caller_of(one.labels.get(CALLER, "")), one.labels.get(MODEL, "")] += one.value
    return dict(sums)
