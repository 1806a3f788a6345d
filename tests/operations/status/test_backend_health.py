"""Health as Google's load balancer sees it, asked of the emulator of Google's APIs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llmd_gke.settings import StackSettings, load_stack
from localcloud.gke_gateway.health import Seen
from localcloud.google_api.services import load_balancers
from operations.doctor.google import ENDPOINT
from operations.status import backend_health
from operations.status.objects import Line, Snapshot, State
from tests.operations.doctor.emulated import PROJECT, Google, emulating
from tests.operations.status.shapes import NOW, server

ONE, TWO = "10.4.0.7", "10.4.1.9"
Gateway = dict[str, tuple[Seen, ...]]


@pytest.fixture
def settings() -> StackSettings:
    stack = load_stack(Path(__file__).parents[3], "eu4a").settings
    return stack.model_copy(update={"project": PROJECT, "front_door": None})


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: StackSettings) -> Iterator[Google]:
    """With the stack's cluster, and the backends that the test says its gateway has."""
    monkeypatch.setenv("LLMD_GKE_HOME", str(tmp_path))
    with emulating(tmp_path / "cloud") as emulator:
        emulator.make_cluster(settings)
        monkeypatch.setattr(load_balancers.control_plane, "is_real", lambda: True)
        monkeypatch.setenv(ENDPOINT, emulator.url)
        yield emulator


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch) -> Gateway:
    backends: Gateway = {}
    monkeypatch.setattr(load_balancers, "seen", lambda home: backends)
    return backends


def pods(*addresses: str, ready: bool = True) -> Snapshot:
    result = [server(f"qwen-kserve-abc-{address}", ready=ready) for address in addresses]
    for pod, address in zip(result, addresses, strict=True):
        pod["status"]["podIP"] = address
    return Snapshot(now=NOW, pods=result)


def states(**addresses: str) -> tuple[Seen, ...]:
    return tuple(Seen(address, 8000, healthy=state == "HEALTHY") for address, state in addresses.items())


def only(snapshot: Snapshot, settings: StackSettings) -> Line:
    (line,) = backend_health.section(snapshot, settings)
    return line


@pytest.mark.parametrize(
    ("second", "service", "state", "text", "fix"),
    [
        ("HEALTHY", (ONE, TWO), State.GOOD, "2 of 2 Ready pods are HEALTHY for Google's load balancer", ""),
        ("UNHEALTHY", (ONE,), State.BAD, f"{TWO}: UNHEALTHY", "healthcheckpolicy"),
        (None, (), State.BUSY, f"{TWO}: in no backend", ""),
    ],
)
def test_ready_pods_are_good_once_every_backend_service_calls_them_healthy(
    google: Google, gateway: Gateway, settings: StackSettings, second: str | None, service: tuple[str, ...], *,
    state: State, text: str, fix: str,
) -> None:  # fmt: skip
    pool = {ONE: "HEALTHY", **({TWO: second} if second else {})}
    gateway.update({"pool": states(**pool), "service": states(**dict.fromkeys(service, "HEALTHY"))})
    line = only(pods(ONE, TWO), settings)
    assert (line.state, text in line.text, fix in line.fix) == (state, True, True), line


def test_a_pod_that_is_not_ready_is_not_asked_about(google: Google, settings: StackSettings) -> None:
    assert only(pods(ONE, ready=False), settings).text == "no pod is Ready yet"


def test_a_caller_who_may_not_ask_gets_the_rest_of_the_screen(google: Google, settings: StackSettings) -> None:
    google.fails("compute.regionBackendServices.list", 403, "Required 'compute.regionBackendServices.list' permission")
    line = only(pods(ONE), settings)
    assert line.state is State.UNKNOWN
    assert "regionBackendServices.list" in line.text


def test_backend_services_of_other_networks_are_not_asked_about(
    monkeypatch: pytest.MonkeyPatch, settings: StackSettings
) -> None:
    network = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/global/networks/default"
    others = {"items": [{"name": "others", "network": network, "backends": [{"group": "x"}]}]}
    monkeypatch.setattr(backend_health, "login", lambda: None)
    monkeypatch.setattr(
        backend_health.GoogleClient, "ask", lambda self, method, **_: {"list": others}[method.split(".")[-1]]
    )
    assert backend_health.ask(settings) == {}


def test_without_credentials_the_line_says_so(settings: StackSettings) -> None:
    assert only(pods(ONE), settings).state is State.UNKNOWN
