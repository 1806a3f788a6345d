"""The request to one server, and its answer."""

from __future__ import annotations

import time
from dataclasses import dataclass

import httpx

from llmd_common.kubernetes.fields import each, text


@dataclass(frozen=True)
class Question:
    """A chat with one message to the model ``served_name``, or with ``path`` a GET of it. ``timeout`` in seconds."""

    served_name: str
    prompt: str
    tokens: int
    timeout: float
    path: str | None = None


@dataclass(frozen=True)
class Answer:
    """An answer. ``status``: HTTP's, 0 without an answer. ``text``: the model's, or the reason why there is none."""

    status: int
    seconds: float
    text: str

    def summary(self) -> str:
        """The answer for people: one line with status and times, and the text below it."""
        head = f"{self.status or 'no answer'} after {self.seconds:.2f} s"
        return "\n  ".join([head, *self.text.strip().splitlines()])


def ask(base: str, question: Question) -> Answer:
    """Sends the question to one server at ``base``. Errors are part of the result, and never raised."""
    started = time.monotonic()
    try:
        with httpx.Client(base_url=base, timeout=question.timeout, trust_env=False) as http:
            if question.path is not None:
                response = http.get(question.path)
            else:
                message = {"role": "user", "content": question.prompt}
                body = {"model": question.served_name, "messages": [message], "max_tokens": question.tokens}
                response = http.post("/v1/chat/completions", json=body)
    except httpx.HTTPError as error:
        return Answer(0, round(time.monotonic() - started, 3), str(error) or type(error).__name__)
    seconds = round(time.monotonic() - started, 3)
    answer_text = response.text if question.path is not None or response.status_code != 200 else _answer_text(response)
    return Answer(response.status_code, seconds, answer_text)


def _answer_text(response: httpx.Response) -> str:
    try:
        choices = each(response.json(), "choices")
    except ValueError:
        return response.text
    return text(choices[0], "message", "content") if choices else response.text
