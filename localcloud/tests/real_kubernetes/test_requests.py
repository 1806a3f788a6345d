"""What a user of the model asks, through the gateway at the address in the stack's outputs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from localcloud.cluster.chat import QUESTION
from localcloud.tests.real_kubernetes.harness import Laptop
from localcloud.tests.real_kubernetes.objects import Object
from localcloud.tests.real_kubernetes.serving import ask, chat


class Model:
    """The stack's first model as its outputs describe it."""

    def __init__(self, laptop: Laptop) -> None:
        outputs = json.loads(laptop.pulumi("stack", "output", "--json", "--stack", "local").stdout)
        (self.name, values), *_ = outputs["models"].items()
        self.laptop, self.url, self.served_name = laptop, str(values["url"]), str(values["servedModelName"])

    @property
    def names(self) -> tuple[str, str]:
        """Both names that are served: the model's own, and the one that KServe advertises."""
        return self.served_name, f"publishers/models/models/{self.served_name}"

    def ask(self, *requests: Object) -> list[Any]:
        return ask(self.laptop, self.url, *requests)


@pytest.fixture(scope="module")
def model(laptop: Laptop) -> Model:
    return Model(laptop)


def test_the_first_up_ended_with_an_answer_of_the_model_to_a_chat(model: Model) -> None:
    lines = model.laptop.first_up.splitlines()
    question = f"Question to {model.served_name} at {model.url}:"
    assert lines.count(question) == 1, model.laptop.first_up
    asked = lines.index(question)
    assert lines[asked + 1] == f"  {QUESTION}"
    assert re.fullmatch(r"Answer after \d+\.\d\d s \(the simulator .* repeats the question\):", lines[asked + 2])
    assert lines[asked + 3] == f"  {QUESTION}"


def test_a_chat_is_answered_under_both_names(model: Model) -> None:
    assert len(model.names) == 2
    for answer, name in zip(
        model.ask(*[chat("tell me", model=name) for name in model.names]), model.names, strict=True
    ):
        assert answer["status"] == 200, answer
        reply = json.loads(answer["text"])
        # The simulator echoes: the question came through whole. It answers under the first name, as vLLM does.
        assert (reply["model"], reply["choices"][0]["message"]["content"]) == (model.served_name, "tell me"), name
