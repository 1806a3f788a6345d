"""The shipped stack with a front door on the laptop cloud: what its clients see, and the program's second run.

Skipped where the front door's programs are not built: ``.ci/full front_door`` builds them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.settings.secret_keys import stand_in_key
from localcloud.tests.real_kubernetes import faults, objects, steady_load
from localcloud.tests.real_kubernetes.commands import called
from localcloud.tests.real_kubernetes.front_door import STACK, answers, base, proxies, stack_up
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.serving import chat
from localcloud.tests.real_kubernetes.test_destroy import in_the_cluster, of_the_program

TEAM_A, BATCH = stand_in_key("team-a"), stand_in_key("batch")


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    with stack_up(tmp_path_factory.mktemp("door-stack")) as made:
        yield made


def test_make_up_ends_with_an_answer_of_every_model_through_the_door(stack: Laptop) -> None:
    assert stack.first_up.count("Answer after") == 2, stack.first_up
    assert stand_in_key("team-a") not in stack.first_up, "keys are never printed"


def test_smoke_passes_behind_the_door(stack: Laptop, tmp_path: Path) -> None:
    done = called(stack, tmp_path, "smoke", "--output", "json", stack=STACK)
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = [(check["name"], check["verdict"]) for check in json.loads(done.stdout)["checks"]]
    assert {name for name, verdict in verdicts if verdict == "skipped"} == {"health", "longer than 30 s"}
    assert {verdict for _, verdict in verdicts} == {"passed", "skipped"}


def test_the_list_of_models_has_what_the_caller_may_use(stack: Laptop) -> None:
    of_a, of_batch = answers(stack, ({"path": "/v1/models"}, TEAM_A), ({"path": "/v1/models"}, BATCH))
    names = [{one["id"] for one in json.loads(answer["text"])["data"]} for answer in (of_a, of_batch)]
    assert {"qwen", "small"} <= names[0]
    assert "qwen" in names[1]
    assert not [name for name in names[1] if name.endswith("small")]
    (wrong,) = answers(stack, ({"path": "/v1/models"}, "nobody-has-this-key-0123456789abcdef"))
    assert wrong["status"] == 401


def test_a_second_run_of_the_program_changes_nothing(stack: Laptop) -> None:
    again = stack.up(STACK).stdout
    assert re.search(r"^ +\d+ unchanged$", again, re.M), again
    assert not re.search(r"^ +[-+~]+ *\d+ (to |created|updated|deleted|replaced)", again, re.M), again


def test_a_key_is_added_by_an_update_that_no_client_notices(stack: Laptop, tmp_path: Path) -> None:
    def third_caller(config: dict[str, Any]) -> None:
        config["llmd-gke:frontDoor"]["callers"].append({"name": "late"})

    def pods() -> set[str]:
        return {
            str(pod["metadata"]["uid"]) for pod in [*proxies(stack), *objects.pods_of(stack, "qwen-kserve", "models")]
        }

    before, late = pods(), stand_in_key("late")
    assert answers(stack, (chat("hello", model="qwen"), late))[0]["status"] == 401
    stack.edit(STACK, third_caller)
    with steady_load.steady(stack, tmp_path / "answers.jsonl", base(stack), "qwen", TEAM_A) as load:
        load.await_more(10)
        stack.up(STACK)
        until(lambda: answers(stack, (chat("hello", model="qwen"), late))[0]["status"] == 200, "the new key", 30)
        load.await_more(25)
    seen = steady_load.Figures.of(load.answers())
    assert seen.requests >= 35
    assert seen.failed == ()
    assert pods() == before, "nothing restarted"


def test_while_ai_gateways_sidecar_is_away_requests_get_503_with_retry_after(stack: Laptop) -> None:
    victim = proxies(stack)[0]
    before, name = objects.restarts(victim), objects.name(victim)
    faults.kill(stack, "app", name)
    seen = answers(stack, *([(chat("hello", model="qwen"), TEAM_A)] * 40))
    lost = [one for one in seen if one["status"] != 200]
    assert {(one["status"], one["headers"].get("retry-after")) for one in lost} <= {(503, "10")}, lost
    assert len(lost) <= 30, "the other proxy has its own"
    until(
        lambda: any(objects.restarts(one) > before for one in proxies(stack) if objects.name(one) == name),
        "the sidecar",
        60,
    )
    again = [(chat("hello", model="qwen"), TEAM_A)] * 10
    until(lambda: all(one["status"] == 200 for one in answers(stack, *again)), "every answer", 60)


def test_where_the_stack_says_so_requests_are_refused_while_limits_cannot_be_counted(stack: Laptop) -> None:
    """It changes the stack: only its end comes after this."""

    def refuse(config: dict[str, Any]) -> None:
        config["llmd-gke:frontDoor"]["whenLimiterIsAway"] = "refuse"

    def answer(key: str = TEAM_A) -> dict[str, Any]:
        return answers(stack, (chat("hello", model="qwen"), key))[0]

    stack.edit(STACK, refuse)
    stack.up(STACK)
    until(lambda: answer()["status"] == 200, "the model with its limiter", 60)
    stack.kubectl("scale", "deployment", "front-door-redis", "-n", "envoy-gateway-system", "--replicas=0")
    until(lambda: not objects.pods_of(stack, "front-door-redis", "envoy-gateway-system"), "the end of Redis", 90)
    seen = list[dict[str, Any]]()

    def refused() -> bool:
        seen[:] = [answer() for _ in range(16)]
        return all(one["status"] != 200 for one in seen)

    # Both Envoys take requests; each learns of the setting at its own time, and has its own connection to the limiters.
    until(refused, "the refusals of both Envoys", 120)
    assert {(one["status"], one["headers"].get("retry-after")) for one in seen} == {(503, "10")}, seen
    assert {json.loads(one["text"])["error"]["code"] for one in seen} == {"service_unavailable"}
    assert answer("no-such-key-0123456789abcdef012345")["status"] == 401
    stack.kubectl("scale", "deployment", "front-door-redis", "-n", "envoy-gateway-system", "--replicas=1")
    until(lambda: answer()["status"] == 200, "the model with its limiter again", 90)


def test_destroy_leaves_no_route_of_ai_gateway_waiting_for_its_finalizer(stack: Laptop) -> None:
    """The last test here. Deleted in the foreground, one route in twenty stayed (envoyproxy/ai-gateway#2565)."""
    ours = of_the_program(stack, STACK)
    assert {"AIGatewayRoute", "SecurityPolicy", "LLMInferenceService"} <= {kind for kind, _ in ours}
    assert set(stack.steps("destroy", "--yes", "--skip-preview", stack=STACK).values()) == {"delete"}
    left = in_the_cluster(stack, ours.values())
    assert left, "the API server shows others of these kinds, so it was asked rightly"
    assert ours.keys() & left.keys() == set()
