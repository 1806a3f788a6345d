"""What a seed draws: faults that the emulator knows, and settings that are valid."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from llmd_gke.repository import CLONE
from llmd_gke.settings import load_stack
from localcloud.google_api.core.faults import ApiFaults
from localcloud.tests.life_cycle import steps
from localcloud.tests.life_cycle.settings_changes import CHANGES, STACK, changed

STACKS = (STACK, "gpu")


@settings(max_examples=200)
@given(st.one_of(*(one for part in steps.METHODS for one in steps.faults_of(part).values())))
def test_the_emulator_accepts_every_fault(fault: steps.Fault) -> None:
    faults = ApiFaults()
    faults.set([fault])
    assert faults.shown() == [fault]


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(STACKS), st.sets(st.sampled_from(tuple(CHANGES))))
def test_the_settings_are_valid_with_any_changes(
    tmp_path_factory: pytest.TempPathFactory, stack: str, names: set[str]
) -> None:
    folder: Path = tmp_path_factory.mktemp("stack")
    written = yaml.safe_load((CLONE / f"Pulumi.{stack}.yaml").read_text())
    (folder / f"Pulumi.{stack}.yaml").write_text(
        yaml.safe_dump({**written, "config": changed(written["config"], names)})
    )
    assert load_stack(folder, stack).settings.models[0].gated
