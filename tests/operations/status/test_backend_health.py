"""Health as Google's load balancer sees it, asked of a server that answers as Compute Engine is documented to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llmd_gke.settings import StackSettings, load_stack
from operations.doctor.google import ENDPOINT
from operations.status import backend_health
from operations.status.objects import Line, Snapshot, State
from tests.operations.doctor.google_standin import PROJECT, Google, error, serving
from tests.operations.status.shapes import NOW, server

ONE, TWO = "10.4.0.7", "10.4.1.9"


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[Google]:
    standin = Google()
    with serving(standin) as base:
        monkeypatch.setenv(ENDPOINT, base)
        yield standin


@pytest.fixture
def settings() -> StackSettings:
    found = load_stack(Path(__file__).parents[3], "eu4a").settings
    return found.model_copy(update={"project": PROJECT})


def pods(*addresses: str, ready: bool = True) -> Snapshot:
    found = [server(f"qwen-kserve-abc-{address}", ready=ready) for address in addresses]
    for pod, address in zip(found, addresses, strict=True):
        pod["status"]["podIP"] = address
    return Snapshot(now=NOW, pods=found)


def states(**addresses: str) -> list[dict[str, str]]:
    return [{"ipAddress": address, "port": "8000", "healthState": state} for address, state in addresses.items()]


def only(snapshot: Snapshot, settings: StackSettings) -> Line:
    (line,) = backend_health.section(snapshot, settings)
    return line


def test_pods_that_every_backend_service_calls_healthy_are_good(google: Google, settings: StackSettings) -> None:
    google.backends = {name: states(**{ONE: "HEALTHY", TWO: "HEALTHY"}) for name in ("gkegw1-pool", "gkegw1-service")}
    line = only(pods(ONE, TWO), settings)
    assert (line.state, line.text) == (State.GOOD, "2 of 2 Ready pods are HEALTHY for Google's load balancer")
    assert not any("backendServices/others" in path for _, path in google.calls), "another network's"


def test_a_ready_pod_that_the_load_balancer_calls_unhealthy_is_bad(google: Google, settings: StackSettings) -> None:
    google.backends = {"pool": states(**{ONE: "HEALTHY", TWO: "UNHEALTHY"}), "service": states(**{ONE: "HEALTHY"})}
    line = only(pods(ONE, TWO), settings)
    assert line.state is State.BAD
    assert f"{TWO}: UNHEALTHY" in line.text
    assert "healthcheckpolicy" in line.fix


def test_a_ready_pod_in_no_backend_yet_is_waited_for(google: Google, settings: StackSettings) -> None:
    google.backends = {"pool": states(**{ONE: "HEALTHY"})}
    line = only(pods(ONE, TWO), settings)
    assert line.state is State.BUSY
    assert f"{TWO}: in no backend" in line.text


def test_a_pod_that_is_not_ready_is_not_asked_about(google: Google, settings: StackSettings) -> None:
    assert only(pods(ONE, ready=False), settings).text == "no pod is Ready yet"


def test_a_caller_who_may_not_ask_gets_the_rest_of_the_screen(google: Google, settings: StackSettings) -> None:
    google.faults["backendServices"] = error(403, "Required 'compute.regionBackendServices.list' permission")
    line = only(pods(ONE), settings)
    assert line.state is State.UNKNOWN
    assert "regionBackendServices.list" in line.text


def test_without_credentials_the_line_says_so(settings: StackSettings) -> None:
    assert only(pods(ONE), settings).state is State.UNKNOWN
