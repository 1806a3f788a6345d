"""Graphs of the shipped stacks, recorded once a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from llmd_gke.graph import recording
from llmd_gke.graph.resources import Graph
from llmd_gke.settings import StackSettings, parse
from llmd_gke.settings.load import read_config
from llmd_gke.settings.validation import CLOUD_VARIABLE
from tests.graphs import load

ROOT = Path(__file__).parents[2]
DOOR = "door"
"""The stack whose models are behind a front door: ``front_door`` judges what differs there. Stack ``vllm`` is the same
with another image, and ``test_istio.py`` judges stack ``istio``.
"""
STACKS = sorted({file.name.split(".")[1] for file in ROOT.glob("Pulumi.*.yaml")} - {DOOR, "vllm", "istio"})

Record = Callable[..., Graph]

WITHOUT_DOOR: Mapping[str, Mapping[str, object]] = {
    "eu4a": {
        "llmd-gke:frontDoor": None,
        "llmd-gke:gateway": {"exposure": "external", "allowPlainHttp": True, "open": True},
    },
    "prod": {"llmd-gke:frontDoor": None},
    "gpu": {"llmd-gke:frontDoor": None},
}
"""Changes that give the models of a shipped stack paths of their own, as most tests here expect."""


@pytest.fixture(scope="session", autouse=True)
def rehearsal() -> Iterator[None]:
    """Stacks of the project `rehearsal` are refused outside of the stand-ins."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CLOUD_VARIABLE, "rehearsal")
        yield


def of_stack(stack: str, preview: bool, shipped: bool = False) -> Graph:
    """The graph of a stack, as it is shipped or without its front door. Shared between tests: do not change it."""
    return load(ROOT, stack, preview=preview, changes=None if shipped else WITHOUT_DOOR.get(stack))


@pytest.fixture(params=STACKS)
def stack(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def preview(stack: str) -> bool:
    """Whether it is a first preview, where the cloud's values are unknown, or an update, where they are known."""
    return stack in ("gpu", "local")


@pytest.fixture
def graph(stack: str, preview: bool) -> Graph:
    """The graph of a stack, without its front door. Shared between tests: do not change it."""
    return of_stack(stack, preview)


@pytest.fixture
def settings(stack: str) -> StackSettings:
    config = {**read_config(ROOT, stack), **WITHOUT_DOOR.get(stack, {})}
    return parse({key: value for key, value in config.items() if value is not None}, stack).settings


@pytest.fixture
def root() -> Path:
    return ROOT


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Record:
    """Records stack `eu4a` without its front door, with changes to its configuration.

    Graphs are shared between tests: do not change them. A test that patches something records its own.
    """
    recorder = recording.load if "monkeypatch" in request.fixturenames else load

    def recorded(
        changes: Mapping[str, object] | None = None,
        *,
        preview: bool = False,
        stack: str = "eu4a",
        plain: tuple[str, ...] = (),
    ) -> Graph:
        everything = {**WITHOUT_DOOR.get(stack, {}), **(changes or {})}
        return recorder(ROOT, stack, preview=preview, changes=everything, plain=plain)

    return recorded
