"""The last words of `make up`: which models answer, and what the simulator's answer is."""

from __future__ import annotations

import io
import json
import sys
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


@pytest.mark.parametrize(("answer", "echo"), [(chat.QUESTION, True), ("On TPUs.", False)])
def test_question_and_answer_are_shown_and_an_echo_is_called_one(
    answer: str, echo: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def patiently(_url: str, _model: str, _address: str, _key: str | None) -> tuple[str, float]:
        return answer, 0.04

    monkeypatch.setattr(chat, "patiently", patiently)
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(ASKED)))
    assert chat.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"Question to qwen at {ASKED['url']}:", f"  {chat.QUESTION}"]
    assert lines[2].startswith("Answer after 0.04 s")
    assert ("repeats the question" in lines[2]) == echo
    assert lines[3] == f"  {answer}"


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


def test_a_key_of_the_front_door_is_sent_and_never_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("authorization"))
        return httpx.Response(200, json={"choices": [{"message": {"content": "hello"}}]})

    class Client(httpx.Client):
        def __init__(self, **_options: object) -> None:
            super().__init__(transport=httpx.MockTransport(answer))

    monkeypatch.setattr(httpx, "Client", Client)
    for more in ({}, {"key": None}, {"key": "key-of-somebody"}):
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps({**ASKED, **more})))
        assert chat.main() == 0
    assert seen == [None, None, "Bearer key-of-somebody"]
    assert "key-of-somebody" not in capsys.readouterr().out


@pytest.mark.parametrize("status", [404, 500, 502, 503])
def test_a_gateway_that_is_not_ready_yet_is_asked_again(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([httpx.Response(status), httpx.Response(200, json={"choices": [{"message": {"content": "hello"}}]})])

    class Client(httpx.Client):
        def __init__(self, **_options: object) -> None:
            super().__init__(transport=httpx.MockTransport(lambda _request: next(answers)))

    monkeypatch.setattr(httpx, "Client", Client)
    assert chat.patiently(ASKED["url"], "qwen", ASKED["address"])[0] == "hello"
    assert next(answers, None) is None


def test_a_rejected_question_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(401)

    class Client(httpx.Client):
        def __init__(self, **_options: object) -> None:
            super().__init__(transport=httpx.MockTransport(answer))

    monkeypatch.setattr(httpx, "Client", Client)
    with pytest.raises(chat.NotYet, match="answered 401"):
        chat.patiently(ASKED["url"], "qwen", ASKED["address"])
    assert len(asked) == 1
