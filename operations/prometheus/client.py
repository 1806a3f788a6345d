"""A client of Prometheus' query API, which managed Prometheus also provides.

https://prometheus.io/docs/prometheus/latest/querying/api/,
https://cloud.google.com/stackdriver/docs/managed-prometheus/query-api-ui
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import httpx

from llmd_common.kubernetes.fields import text
from operations.printing import short

ANSWER_SECONDS = 10.0
AT_ONCE = 8


class NotAnswered(Exception):
    """Prometheus gave no usable answer; the message contains the reason."""


class NotThere(NotAnswered):
    """Nothing listens at its address."""


class NotAllowed(NotAnswered):
    """The caller lacks credentials, or the permission to read metrics."""


@dataclass(frozen=True)
class Series:
    """Labels, and points in time order: seconds since 1970, and the value."""

    labels: Mapping[str, str]
    points: Sequence[tuple[float, float]]

    @property
    def value(self) -> float:
        """The newest value."""
        return self.points[-1][1]


@dataclass
class Prometheus:
    """The query API. ``client`` has its address (``…/api/v1/``) as base URL, and signs in."""

    client: httpx.AsyncClient
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def instant(self, promql: str, at: float) -> list[Series]:
        """The series that an expression returns at a time. Raises :class:`NotAnswered`."""
        return await self._ask("query", {"query": promql, "time": f"{at:.3f}"})

    async def over(self, promql: str, start: float, end: float, step: float) -> list[Series]:
        """The series over a time span, with a point every ``step`` seconds. Raises :class:`NotAnswered`."""
        times = {"start": f"{start:.3f}", "end": f"{end:.3f}", "step": f"{step:g}"}
        return await self._ask("query_range", {"query": promql, **times})

    async def _ask(self, what: str, form: Mapping[str, str]) -> list[Series]:
        async with self._slots:
            try:
                answer = await self.client.post(what, data=dict(form))
            except httpx.ConnectError:
                raise NotThere(f"nothing answers at {self.client.base_url}") from None
            except httpx.HTTPError as error:
                raise NotAnswered(f"no answer within {ANSWER_SECONDS:g} s ({type(error).__name__})") from None
        if answer.status_code in (401, 403):
            raise NotAllowed(_reason(answer))
        if answer.is_error:
            raise NotAnswered(f"status {answer.status_code}: {_reason(answer)}")
        return _series(answer)


@asynccontextmanager
async def connected(url: str, token: str | None = None) -> AsyncGenerator[Prometheus]:
    """A client of the API at ``url`` (``…/api/v1/``). Without a token the API is on this machine, and no proxy is
    used.
    """
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    trust = token is not None
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=ANSWER_SECONDS, trust_env=trust) as client:
        yield Prometheus(client)


def _reason(answer: httpx.Response) -> str:
    """The reason in an error: Google's are objects, Prometheus' are texts."""
    try:
        content = answer.json()
    except ValueError:
        return answer.reason_phrase
    return short(text(content, "error", "message") or text(content, "error") or answer.reason_phrase)


def _series(answer: httpx.Response) -> list[Series]:
    try:
        content = cast("Mapping[str, Mapping[str, object]]", answer.json())
        entries = cast("Sequence[Mapping[str, object]]", content["data"].get("result") or [])
        if content["data"].get("resultType") not in ("vector", "matrix"):
            return []
        return [_one(one) for one in entries]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotAnswered("the answer is not a Prometheus response") from None


def _one(one: Mapping[str, object]) -> Series:
    values = cast("Sequence[tuple[float, str]]", one.get("values") or [one["value"]])
    return Series(
        cast("Mapping[str, str]", one.get("metric") or {}), [(float(when), float(value)) for when, value in values]
    )


def measured(series: Sequence[Series]) -> list[Series]:
    """The series whose newest value is a number: a quantile without samples is NaN."""
    return [one for one in series if math.isfinite(one.value)]
