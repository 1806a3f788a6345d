"""A Google that has everything, and stack ``eu4a`` in a project of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmd_gke.settings import StackSettings
from llmd_gke.settings.load import load_stack
from operations.doctor.context import Context
from operations.doctor.google import ENDPOINT
from tests.operations.doctor.elsewhere import Elsewhere, serving
from tests.operations.doctor.emulated import PROJECT, Google, emulating

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:
    standin = Elsewhere()
    with serving(standin) as base:
        monkeypatch.setattr(Context, "registry", staticmethod(lambda host: f"{base}/registry/{host}"))  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
        monkeypatch.setenv("HF_ENDPOINT", f"{base}/hf")
        yield standin


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, elsewhere: Elsewhere) -> Iterator[Google]:
    with emulating(tmp_path / "google") as emulator:
        monkeypatch.setenv(ENDPOINT, emulator.url)
        yield emulator


@pytest.fixture(scope="module")
def eu4a(tmp_path_factory: pytest.TempPathFactory) -> StackSettings:
    folder = tmp_path_factory.mktemp("stacks")
    text = (ROOT / "Pulumi.eu4a.yaml").read_text()
    (folder / "Pulumi.eu4a.yaml").write_text(re.sub(r"gcp:project: .*", f"gcp:project: {PROJECT}", text))
    (folder / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    return load_stack(folder, "eu4a").settings


@pytest.fixture
def context(eu4a: StackSettings) -> Context:
    return Context("eu4a", eu4a)


@pytest.fixture
def t4(eu4a: StackSettings) -> StackSettings:
    """The same with two T4 on each host."""
    (pool,) = eu4a.pools
    gpus = pool.model_copy(update={"machine_type": "n1-standard-8", "topology": None, "gpus": 2})
    return eu4a.model_copy(update={"pools": (gpus,)})
