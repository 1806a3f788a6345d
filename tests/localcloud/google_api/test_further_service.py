"""What a further service of Google takes: one module, and the line that imports it (here, the line below)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from localcloud.google_api import overview
from localcloud.google_api.core import discovery
from localcloud.google_api.server import running
from tests.localcloud.google_api import further_service
from tests.localcloud.google_api.conftest import Client
from tests.localcloud.google_api.test_faults import later

WHERE = "redis.googleapis.com/v1/projects/my-project/locations/us-east5"
INSTANCE = {"tier": "STANDARD_HA", "memorySizeGb": 1}


def make(client: Client, name: str = "cache") -> dict[str, Any]:
    return client.ok("POST", f"{WHERE}/instances", INSTANCE, instanceId=name)


def test_the_emulator_has_no_line_about_it() -> None:
    assert further_service.INSTANCES.startswith("redis.")
    assert "redis.googleapis.com" not in discovery.DOCUMENTS


def test_its_methods_are_served_with_operations_pages_and_errors(client: Client) -> None:
    operation = make(client)
    assert operation["done"] is True
    assert client.ok("GET", f"redis.googleapis.com/v1/{operation['name']}") == operation
    assert client.ok("GET", f"{WHERE}/instances/cache") == {
        **INSTANCE, "name": "projects/my-project/locations/us-east5/instances/cache", "state": "READY",
    }  # fmt: skip
    assert client.refused("POST", f"{WHERE}/instances", INSTANCE, instanceId="cache")[0] == 409
    assert client.refused("GET", f"{WHERE}/instances/other")[0] == 404
    make(client, "second")
    first = client.ok("GET", f"{WHERE}/instances", pageSize="1")
    assert len(first["instances"]) == 1
    assert len(client.ok("GET", f"{WHERE}/instances", pageToken=first["nextPageToken"])["instances"]) == 1


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ({"memorySizeGB": 1}, 'Unknown name "memorySizeGB"'),
        ({"memorySizeGb": "much"}, "Invalid value at 'memorySizeGb'"),
        ({"tier": "GOLD"}, "Invalid value at 'tier'"),
        ({"maintenancePolicy": {"weeklyMaintenanceWindow": [{"day": "SOMEDAY"}]}}, "weeklyMaintenanceWindow[0].day"),
    ],
)
def test_requests_are_validated_by_its_discovery_document(client: Client, body: dict[str, object], part: str) -> None:
    status, _, message = client.refused("POST", f"{WHERE}/instances", body, instanceId="cache")
    assert status == 400
    assert part in message
    assert client.refused("GET", f"{WHERE}/instances/cache")[0] == 404


def test_what_the_document_does_not_know_and_what_the_module_leaves_out_are_refused(client: Client) -> None:
    assert "no such method" in client.refused("GET", f"{WHERE}/caches")[2]
    assert 'Unknown name "colour"' in client.refused("GET", f"{WHERE}/instances", colour="red")[2]
    status, _, message = client.refused("POST", f"{WHERE}/instances/cache:failover", {})
    assert status == 501
    assert message.startswith("redis.projects.locations.instances.failover exists in Google's API")
    assert client.refused("GET", "nosuchapi.googleapis.com/v1/things")[0] == 404


def test_its_own_answers_are_validated_too(client: Client) -> None:
    with pytest.raises(AssertionError, match=r"own answer to redis\..*\.getAuthString is wrong: .*password"):
        client.answer("GET", f"{WHERE}/instances/cache/authString")


def test_faults_strike_it_and_the_command_shows_it(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.faults(
        {"fault": "error", "method": "redis.*.create", "code": 503, "times": 1},
        {"fault": "slow", "method": "redis.*", "seconds": 100, "times": 1},
        {"fault": "operation", "method": "redis.*", "message": "no zone has room", "after": 1, "times": 1},
    )
    assert client.refused("POST", f"{WHERE}/instances", INSTANCE, instanceId="cache")[0] == 503
    assert make(client)["done"] is False
    assert client.ok("GET", f"{WHERE}/instances/cache")["state"] == "CREATING"
    later(monkeypatch, 101)
    assert client.ok("GET", f"{WHERE}/instances/cache")["state"] == "READY"
    assert make(client, "failing")["error"]["message"] == "no zone has room"
    rows = {row["name"]: row for row in overview.rows(client.cloud, "resources")}
    assert (rows["cache"]["type"], rows["cache"]["location"], rows["cache"]["status"]) == (
        "instances", "us-east5", "READY",
    )  # fmt: skip


def test_googles_client_library_talks_to_it(tmp_path: Path) -> None:
    from google.oauth2.credentials import Credentials
    from googleapiclient import discovery as client_library  # pyright: ignore[reportMissingTypeStubs]

    build = cast("Callable[..., Any]", vars(client_library)["build"])
    with running(tmp_path) as cloud:
        options = {"api_endpoint": f"{cloud.url}/redis.googleapis.com/"}
        credentials = cast("Callable[..., object]", Credentials)(token="emulator")
        redis = build("redis", "v1", credentials=credentials, client_options=options, static_discovery=True)
        instances = redis.projects().locations().instances()
        parent = "projects/my-project/locations/us-east5"
        assert instances.create(parent=parent, instanceId="cache", body=INSTANCE).execute()["done"] is True
        assert instances.get(name=f"{parent}/instances/cache").execute()["state"] == "READY"
