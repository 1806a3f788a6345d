"""A model behind the front door is stopped and started: what its clients get from the real Envoy and AI Gateway.

Skipped where the front door's programs are not built: ``.ci/full front_door`` builds them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from llmd_gke.settings.secret_keys import stand_in_key
from localcloud.tests.real_kubernetes.front_door import STACK, answers, stack_up
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.serving import chat, completion

TEAM_A, BATCH, NOBODY = stand_in_key("team-a"), stand_in_key("batch"), "nobody-has-this-key-0123456789abcdef"
"""Only ``team-a`` may use the model ``small``."""


def stopping(*names: str) -> Any:
    """A change of the settings: these models are stopped, and no other."""

    def change(config: dict[str, Any]) -> None:
        for model in config["llmd-gke:models"]:
            model["stopped"] = model["name"] in names

    return change


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    with stack_up(tmp_path_factory.mktemp("door-stopped"), stopping("small")) as made:
        yield made


def status(stack: Laptop, model: str, key: str = TEAM_A, **headers: str) -> int:
    (answer,) = answers(stack, ({**chat("hello", model=model, max_tokens=1), "headers": headers}, key))
    return answer["status"]


def is_the_answer_of_a_stopped_model(answer: dict[str, Any]) -> bool:
    if answer["status"] != 503 or not answer["text"]:
        return False
    headers, error = answer["headers"], json.loads(answer["text"])["error"]
    return (headers.get("retry-after"), error["code"], error["type"], headers["content-type"]) == (
        "600",
        "model_stopped",
        "server_error",
        "application/json",
    )


def test_a_stopped_model_answers_503_and_the_others_serve(stack: Laptop) -> None:
    names = ("small", "publishers/others/models/small")
    for answer in answers(stack, *((chat("hello", model=name), TEAM_A) for name in names)):
        assert is_the_answer_of_a_stopped_model(answer), answer
    (answer,) = answers(stack, (completion("hello", model="small"), TEAM_A))
    assert is_the_answer_of_a_stopped_model(answer), answer
    assert status(stack, "qwen") == 200


def test_keys_and_limits_to_models_hold_for_a_stopped_model(stack: Laptop) -> None:
    assert (status(stack, "small", NOBODY), status(stack, "small", BATCH)) == (401, 403)
    assert status(stack, "no-such-model") == 404
    (listed,) = answers(stack, ({"path": "/v1/models"}, TEAM_A))
    assert "small" not in listed["text"]


def test_the_name_in_the_body_counts_whatever_the_client_says_in_headers(stack: Laptop) -> None:
    assert status(stack, "qwen", **{"x-ai-eg-model": "small"}) == 200
    assert status(stack, "small", **{"x-ai-eg-model": "qwen"}) == 503
    assert status(stack, "small", BATCH, **{"x-llm-caller": "team-a"}) == 403


def test_when_every_model_is_stopped_all_get_the_answer_and_the_start_of_one_ends_it(stack: Laptop) -> None:
    stack.edit(STACK, stopping("small", "qwen"))
    stack.up(STACK)
    asked = (("qwen", TEAM_A), ("small", TEAM_A), ("qwen", BATCH))
    requests = [(chat("hello", model=model), key) for model, key in asked]

    def settled() -> bool:
        """The proxies serve in turn, and each has the new routes at its own time."""
        seen = answers(stack, *requests * 5)
        return all(map(is_the_answer_of_a_stopped_model, seen)) and status(stack, "qwen", NOBODY) == 401

    # AI Gateway's routes are removed while `up` ends: for some seconds Envoy finds no replica of the model.
    until(settled, "a stopped model's answer", 60)
    (listed,) = answers(stack, ({"path": "/v1/models"}, TEAM_A))
    assert json.loads(listed["text"])["data"] == []
    stack.edit(STACK, stopping("qwen"))
    stack.up(STACK)
    until(lambda: status(stack, "small") == 200, "an answer of the model that was started", 60)
    assert (status(stack, "qwen"), status(stack, "small", BATCH)) == (503, 403)
