"""The same change, the same plan: the published provider on the emulator, and the hand-written one of the rehearsal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from localcloud import binaries
from localcloud.providers.google import schema
from localcloud.tests.providers.conftest import REPOSITORY, Refusal, Result, Standin, start
from localcloud.tests.published_provider.changes.names import PROJECT, REGION, ZONE
from localcloud.tests.published_provider.changes.table import CHANGES, MADE, changed, label
from localcloud.tests.published_provider.conftest import PLUGIN

NOISE = "nodeConfig.resourceManagerTags"
"""A computed property that the bridge names in every change of a pool."""
LABELS = ("pulumiLabels", "effectiveLabels")


@dataclass(frozen=True)
class Plan:
    """What the engine is told: ``same``, ``update``, ``replace`` or ``delete, then replace``, and because of what."""

    step: str
    properties: tuple[str, ...] = ()


class Side:
    """One of the two providers, with everything of ``MADE``."""

    def __init__(self, provider: Standin) -> None:
        self.provider = provider
        provider.configure(project=PROJECT, region=REGION, zone=ZONE, defaultLabels='{"stack":"test"}')
        self.made: dict[str, Result] = {}
        for name, (kind, inputs) in MADE.items():
            self.made[name] = provider.create(kind, inputs, name=name)

    def plan(self, name: str, over: dict[str, Any]) -> Plan:
        kind, inputs = MADE[name]
        try:
            answer = self.provider.diff(kind, self.made[name], changed(inputs, over))
        except Refusal:
            return Plan("refused")
        tops = {path.split(".")[0].split("[")[0] for path in answer.detailedDiff if path != NOISE}
        tops = {top for top in tops if schema.type_of(kind, top) or top in LABELS}  # what a program can give
        step = "update" if tops else "same"
        if answer.replaces:
            step = "delete, then replace" if answer.deleteBeforeReplace else "replace"
        return Plan(step, tuple(sorted(tops)))


def _plugin(home: Path) -> Standin:
    folder, environment = home / "cloud", {**os.environ, "LLMD_GKE_HOME": str(home)}
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "localcloud.google_api.plugin", binaries.path(PLUGIN), "127.0.0.1:1"],
        cwd=REPOSITORY, env={**environment, "LLMD_GKE_FAULTS": str(folder / "faults.json")},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return Standin(process, folder, folder / "faults.json")


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Side, Side]]:
    """The published provider, and the hand-written one."""
    real, ours = _plugin(tmp_path_factory.mktemp("real")), start("google", tmp_path_factory.mktemp("ours"))
    try:
        for provider in (real, ours):
            provider.faults(enabledApis=["*"])
        yield Side(real), Side(ours)
    finally:
        real.channel.close()
        real.process.terminate()
        real.process.communicate(timeout=30)
        ours.close()


def test_changes_of_every_type_are_compared() -> None:
    assert {MADE[name][0] for name, _ in CHANGES} == schema.table()["types"].keys()


@pytest.mark.parametrize(("name", "over"), [pytest.param(*one, id=label(*one)) for one in CHANGES])
def test_a_change_is_planned_alike(sides: tuple[Side, Side], name: str, over: dict[str, Any]) -> None:
    real, ours = (side.plan(name, over) for side in sides)
    assert ours == real
