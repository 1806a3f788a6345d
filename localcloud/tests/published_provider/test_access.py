"""What guards a front door, on the real engine: keys, Cloud Armor and IAP are created, left alone, changed, removed."""

from __future__ import annotations

from typing import Any

from localcloud.tests.real_engine.test_changes import UP, changes
from tests.real_engine.harness import Rehearsal

ARMOR = "front-door-cloud-armor"
BACKEND = "front-door-backend-service"


def with_access(config: dict[str, Any]) -> None:
    config["llmd-gke:gateway"] = {"exposure": "external", "tls": {"certificateManager": ["llm"]}}
    config["llmd-gke:frontDoor"]["access"] = {
        "ranges": ["192.0.2.0/24"],
        "requestsPerMinutePerAddress": 600,
        "iap": {"clientId": "123456789012-abc.apps.googleusercontent.com"},
    }
    config["llmd-gke:iapClientSecret"] = "rehearsal-dummy"


def with_throttle(config: dict[str, Any]) -> None:
    config["llmd-gke:frontDoor"]["access"] = {"requestsPerMinutePerAddress": 60}


def without_access(config: dict[str, Any]) -> None:
    del config["llmd-gke:frontDoor"]["access"]


def test_a_front_door_gets_and_loses_cloud_armor_and_iap_in_place(rehearsal: Rehearsal) -> None:
    rehearsal.edit("door", with_access)
    rehearsal.up("door")
    assert changes(rehearsal.steps("up", "--yes", "--skip-preview", "--refresh", stack="door")) == {}
    rehearsal.edit("door", with_throttle)
    steps = changes(rehearsal.steps(*UP, stack="door"))
    assert (steps[ARMOR], steps[BACKEND], steps["front-door-iap-client"]) == ("update", "update", "delete")
    rehearsal.edit("door", without_access)
    steps = changes(rehearsal.steps(*UP, stack="door"))
    assert (steps[ARMOR], steps[BACKEND]) == ("delete", "update")
    rehearsal.down("--stack", "door")
    assert not any(rehearsal.cloud().values())


def test_a_new_key_updates_the_secret_with_all_of_them(rehearsal: Rehearsal) -> None:
    """Replaced, it would be away for a moment, in which Envoy Gateway answers 500 to everyone."""

    def third_caller(config: dict[str, Any]) -> None:
        config["llmd-gke:frontDoor"]["callers"].append({"name": "late"})

    rehearsal.up("door")
    rehearsal.edit("door", third_caller)
    steps = changes(rehearsal.steps(*UP, stack="door"))
    assert steps["front-door-keys"] == "update"
    assert set(steps.values()) <= {"create", "update"}, steps
