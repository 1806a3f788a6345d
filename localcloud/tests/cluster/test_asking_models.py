"""The last words of `make up`: which models answer, and what the simulator's answer is."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable

import httpx
import pytest

from localcloud.cluster import chat

ASKED = {"url": "http://203.0.113.7/models/qwen", "servedModelName": "qwen", "address": "203.0.113.7"}


Answered = Callable[[Callable[[httpx.Request], httpx.Response]], None]


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Answered:
    """Requests are answered by a function instead of a gateway."""

    def by(answer: Callable[[httpx.Request], httpx.Response]) -> None:
        class Client(httpx.Client):
            def __init__(self, **_options: object) -> None:
                super().__init__(transport=httpx.MockTransport(answer))

        monkeypatch.setattr(httpx, "Client", Client)

    return by


def hello() -> httpx.Response:
    return httpx.Response(200, json={"choices": [{"message": {"content": "hello"}}]})


def test_a_key_of_the_front_door_is_sent_and_never_printed(
    answered: Answered, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str | None] = []
    answered(lambda request: seen.append(request.headers.get("authorization")) or hello())
    for more in ({}, {"key": None}, {"key": "key-of-somebody"}):
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps({**ASKED, **more})))
        assert chat.main() == 0
    assert seen == [None, None, "Bearer key-of-somebody"]
    assert "key-of-somebody" not in capsys.readouterr().out


@pytest.mark.parametrize("status", [404, 503])
def test_a_gateway_that_is_not_ready_yet_is_asked_again(status: int, answered: Answered) -> None:
    answers = iter([httpx.Response(status), hello()])
    answered(lambda _: next(answers))
    assert chat.patiently(ASKED["url"], "qwen", ASKED["address"])[0] == "hello"
    assert next(answers, None) is None


def test_a_rejected_question_is_not_asked_again(answered: Answered) -> None:
    asked: list[httpx.Request] = []
    answered(lambda request: asked.append(request) or httpx.Response(401))
    with pytest.raises(chat.NotYet, match="answered 401"):
        chat.patiently(ASKED["url"], "qwen", ASKED["address"])
    assert len(asked) == 1
