"""The last words of `make up`: which models answer, and what the simulator's answer is."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from rich.console import Console

from llmd_gke.repository import CLONE
from llmd_gke.settings.validation import CLOUD_VARIABLE
from localcloud.cluster import chat, lifecycle
from localcloud.common.workdir import Workdir
from localcloud.linux_namespaces import discover
from localcloud.workflow import state

ASKED = {"url": "http://203.0.113.7/models/qwen", "servedModelName": "qwen", "address": "203.0.113.7"}


def test_a_stopped_model_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CLOUD_VARIABLE, "laptop")
    outputs = {"gatewayIp": ASKED["address"], "models": {"qwen": {**ASKED, "stopped": True}}}
    monkeypatch.setattr(state, "read", lambda _workdir, _stack: SimpleNamespace(outputs=outputs))  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
    running = SimpleNamespace(init=SimpleNamespace(pid=1))
    (tmp_path / "Pulumi.local.yaml").write_text((CLONE / "Pulumi.local.yaml").read_text())
    monkeypatch.setattr(discover, "running", lambda _home: running)  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
    screen = io.StringIO()
    console = Console(file=screen, width=200)
    assert lifecycle.ask_models(Workdir(tmp_path, tmp_path, "laptop"), "local", console) == 0
    assert "qwen is stopped: there is no answer at http://203.0.113.7/models/qwen." in screen.getvalue()


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
