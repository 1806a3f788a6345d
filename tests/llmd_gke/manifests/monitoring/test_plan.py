"""What Cloud Monitoring is to get, judged by Google's own documents."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from llmd_gke.catalog import endpoints
from llmd_gke.manifests import monitoring
from llmd_gke.manifests.monitoring import MonitoringPlan, uptime
from llmd_gke.settings import parse
from localcloud.google_api.core import discovery
from localcloud.google_api.rules import monitoring_validation

MODEL: dict[str, Any] = {"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e1"}
TLS = {"certificateManager": ["llm-example-com"]}
CONFIG: dict[str, Any] = {
    "gcp:project": "my-project",
    "llmd-gke:cluster": {"name": "llmd", "zone": "us-east5-b"},
    "llmd-gke:pools": [{"name": "v6e1", "machineType": "ct6e-standard-1t", "topology": "1x1", "maxNodes": 9}],
    "llmd-gke:gateway": {"exposure": "external", "open": True, "domain": "llm.example.com", "tls": TLS},
    "llmd-gke:models": [MODEL],
}


def planned(**changes: object) -> MonitoringPlan:
    config = {**copy.deepcopy(CONFIG), **{f"llmd-gke:{key}": value for key, value in changes.items()}}
    return monitoring.plan(parse(config, "any").settings)


def test_google_takes_every_policy_and_the_dashboard() -> None:
    plan = planned(monitoring={"notify": [{"email": "a@example.com"}]})
    assert len(plan.policies) >= 15
    for policy in plan.policies:
        assert list(discovery.problems("monitoring.v3", "AlertPolicy", dict(policy.body))) == [], policy.key
        assert list(monitoring_validation.policy_problems(dict(policy.body))) == [], policy.key
        assert policy.channels == tuple(one.key for one in plan.channels)
    assert plan.dashboard is not None
    board = json.loads(plan.dashboard)
    assert list(discovery.problems("monitoring.v1", "Dashboard", board)) == []
    assert list(monitoring_validation.dashboard_problems(board)) == []


def test_keys_are_unique() -> None:
    plan = planned(models=[MODEL, {**MODEL, "name": "other", "namespace": "team"}])
    keys = [policy.key for policy in plan.policies]
    assert len(set(keys)) == len(keys)


def test_each_running_model_has_a_check_of_a_path_that_its_route_passes_on() -> None:
    checks = planned(models=[MODEL, {**MODEL, "name": "other"}, {**MODEL, "name": "off", "stopped": True}]).checks
    assert [(check.key, check.path, check.status) for check in checks] == [
        ("qwen-uptime", "/models/qwen/health", None),
        ("other-uptime", "/models/other/health", None),
    ]
    assert uptime.HEALTH in endpoints.LISTING


@pytest.mark.parametrize(
    ("gateway", "host", "ssl", "validated"),
    [
        (
            {"exposure": "external", "open": True, "domain": "llm.example.com", "tls": TLS},
            "llm.example.com",
            True,
            True,
        ),
        ({"exposure": "external", "open": True, "tls": TLS}, None, True, False),
        ({"exposure": "external", "allowPlainHttp": True, "open": True}, None, False, False),
    ],
)
def test_a_check_speaks_what_clients_speak(gateway: dict[str, object], host: str, ssl: bool, validated: bool) -> None:
    (check,) = planned(gateway=gateway).checks
    assert (check.host, check.use_ssl, check.validate_ssl) == (host, ssl, validated)


DOOR: dict[str, object] = {
    "gateway": {"exposure": "external", "domain": "llm.example.com", "tls": TLS},
    "callerKeys": {"team-a": "a" * 40},
}
CALLERS: dict[str, object] = {"callers": [{"name": "team-a"}]}


@pytest.mark.parametrize(
    ("door", "expected"),
    [
        ({}, [("/v1/models", 401)]),
        ({"keepPaths": True}, [("/models/qwen/health", None), ("/v1/models", 401)]),
        ({"access": {"requestsPerMinutePerAddress": 60}}, [("/v1/models", 401)]),
        ({"access": {"ranges": ["203.0.113.0/24"]}}, []),
        ({"access": {"iap": {"clientId": "1-abc.apps.googleusercontent.com"}}}, []),
    ],
)
def test_a_front_door_is_checked_without_a_key_unless_checkers_may_not_come_that_far(
    door: dict[str, object], expected: list[tuple[str, int | None]]
) -> None:
    plan = planned(**DOOR, frontDoor={**CALLERS, **door})
    assert [(check.path, check.status) for check in plan.checks] == expected
    about = [policy for policy in plan.policies if "uptime_check" in str(policy.body)]
    assert len(about) == (2 if expected else 0), "alerts on checks that do not exist never fire"
    assert all(f"{check.title}" in str(policy.body) for policy in about for check in plan.checks)


def test_a_stopped_model_leaves_the_check_of_the_front_door_which_answers_for_it() -> None:
    stopped = planned(**DOOR, frontDoor=CALLERS, models=[{**MODEL, "stopped": True}])
    assert [check.path for check in stopped.checks] == ["/v1/models"]


def test_a_stack_without_any_of_it_has_an_empty_plan() -> None:
    off = {"alerts": False, "dashboard": False, "uptimeCheck": False}
    assert planned(monitoring=off).empty
    assert not planned(monitoring={**off, "dashboard": True}).empty
