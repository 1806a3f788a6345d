"""Published clients through the front door: one address for all models, with callers' keys and limits.

Answers of models are the simulator's; errors of the front door are those of ``docs/front-door.md``. Skipped where the
front door's programs are not built: ``.ci/full clients`` builds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from llmd_gke.settings.secret_keys import stand_in_key
from localcloud.tests.real_kubernetes.clients import asking
from localcloud.tests.real_kubernetes.clients.asking import CLIENTS, SHORT, Endpoint
from localcloud.tests.real_kubernetes.front_door import base, stack_up
from localcloud.tests.real_kubernetes.harness import Laptop

FEW = "few"
"""A caller with two requests a minute."""

pytestmark = pytest.mark.parametrize("client", CLIENTS)


@dataclass
class Door:
    """The front door's address, and what clients saw of it, asked once each."""

    laptop: Laptop
    endpoint: Endpoint
    seen: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])

    def case(self, client: str, name: str) -> dict[str, Any]:
        """What a client with the key of team-a saw of a case."""
        if client not in self.seen:
            self.seen[client] = asking.ask(self.laptop, client, self.endpoint, (*asking.ERRORS, "too large"))
        return self.seen[client][name]

    def refused(self, client: str, caller: str, model: str, times: int = 1) -> list[dict[str, Any]]:
        """What a client with that caller's key saw of so many chats, one after the other."""
        endpoint = replace(self.endpoint, key=stand_in_key(caller), model=model)
        return [asking.ask(self.laptop, client, endpoint, ("refused",))["refused"] for _ in range(times)]


def with_few(config: dict[str, Any]) -> None:
    config["llmd-gke:frontDoor"]["callers"].append({"name": FEW, "requestsPerMinute": 2})


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    folder = tmp_path_factory.mktemp("clients-door")
    with stack_up(folder, with_few, LLMD_GKE_SIMULATOR_ARGS="--inter-token-latency 20ms") as made:
        yield Door(made, Endpoint("front door", f"{base(made)}/v1", "qwen", key=stand_in_key("team-a")))


@pytest.mark.parametrize(
    ("case", "error", "status"),
    [
        ("wrong key", "AuthenticationError", 401),
        ("unknown model", "NotFoundError", 404),
        ("wrong path", "NotFoundError", 404),
    ],
)
def test_an_error_is_read_by_the_client(door: Door, client: str, case: str, error: str, status: int) -> None:
    seen = door.case(client, case)
    assert (seen["error"], seen["status"]) == (error, status), seen
    assert seen["message"], seen


def test_a_body_over_the_limit_gets_413(door: Door, client: str) -> None:
    seen = door.case(client, "too large")
    assert (seen.get("status"), bool(seen.get("message"))) == (413, True), seen


def test_a_model_of_others_is_forbidden(door: Door, client: str) -> None:
    (seen,) = door.refused(client, "batch", "small")
    assert (seen["error"], seen["status"], bool(seen["message"])) == ("PermissionDeniedError", 403, True), seen


def test_a_caller_over_its_limit_gets_429(door: Door, client: str) -> None:
    # Two of them are served in each minute; six requests may lie in two minutes.
    seen = door.refused(client, FEW, "qwen", times=6)
    limited = [one for one in seen if one]
    assert limited
    assert {(one["error"], one["status"], bool(one["message"])) for one in limited} == {("RateLimitError", 429, True)}


def test_a_failing_server_is_asked_again(door: Door, client: str) -> None:
    assert door.case(client, "retries")["attempts"] == ["0", "1", "2"]
    assert door.case(client, "retries")["status"] == 500
    assert door.case(client, "retries until it answers") == {"text": SHORT, "attempts": ["0", "1"]}
