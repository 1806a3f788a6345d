"""The query API of Prometheus, asked of a stand-in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from operations.prometheus.client import NotAllowed, NotAnswered, NotThere, Prometheus, Series, connected
from tests.fakes.prometheus import StandIn, serving


def asked(url: str, question: Callable[[Prometheus], Awaitable[Any]]) -> Any:
    async def asking() -> Any:
        async with connected(f"{url}/api/v1/") as prometheus:
            return await question(prometheus)

    return asyncio.run(asking())


def ask(
    stand_in: StandIn, question: Callable[[Prometheus], Awaitable[Any]] = lambda one: one.instant("up", 1000)
) -> Any:
    with serving(stand_in) as url:
        return asked(url, question)


def test_series_come_with_labels_and_the_newest_value() -> None:
    stand_in = StandIn({"up": [({"pod": "a"}, lambda at: at / 10), ({"pod": "b"}, lambda at: None)]})
    (series,) = ask(stand_in)
    assert (series.labels, series.value) == ({"pod": "a"}, 100.0)
    assert stand_in.asked == [("/api/v1/query", {"query": "up", "time": "1000.000"}, None)]


def test_a_range_has_a_point_for_every_step() -> None:
    stand_in = StandIn({"up": [({}, lambda at: at)]})
    (series,) = ask(stand_in, lambda prometheus: prometheus.over("up", 0, 120, 60))
    assert series.points == [(0, 0), (60, 60), (120, 120)]


@pytest.mark.parametrize(
    ("status", "body", "kind", "reason"),
    [
        (
            403,
            {"error": {"message": "Permission denied.", "status": "PERMISSION_DENIED"}},
            NotAllowed,
            "Permission denied",
        ),
        (401, {}, NotAllowed, "Unauthorized"),
        (400, {"status": "error", "error": "parse error"}, NotAnswered, "status 400: parse error"),
        (500, None, NotAnswered, "status 500: Internal Server Error"),
        (200, {"status": "success"}, NotAnswered, "not a Prometheus response"),
        (200, [1], NotAnswered, "not a Prometheus response"),
    ],
)
def test_every_refusal_says_why(status: int, body: object, kind: type[NotAnswered], reason: str) -> None:
    with pytest.raises(kind, match=reason):
        ask(StandIn(status=status, body="no JSON" if body is None else json.dumps(body)))


def test_an_address_where_nothing_listens_is_told_from_a_refusal() -> None:
    with serving(StandIn()) as url:
        pass  # the port is free again
    with pytest.raises(NotThere, match="nothing answers at"):
        asked(url, lambda prometheus: prometheus.instant("up", 0))


def test_all_questions_are_asked_although_few_are_under_way() -> None:
    async def everything(prometheus: Prometheus) -> list[list[Series]]:
        return await asyncio.gather(*(prometheus.instant(f"up{number}", 0) for number in range(30)))

    stand_in = StandIn()
    assert ask(stand_in, everything) == [[]] * 30
    assert len(stand_in.asked) == 30
