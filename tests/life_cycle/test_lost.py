"""Which kinds a lost answer may leave outside of the state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from localcloud.providers.google.registry import KINDS
from tests.life_cycle import lost
from tests.life_cycle.invariants import DEFAULT_POOL
from tests.life_cycle.steps import METHODS

MODEL = "kubernetes:serving.kserve.io/v1alpha2:LLMInferenceService"


@pytest.mark.parametrize("method", sorted({name for methods in METHODS.values() for name in methods}))
def test_every_method_of_a_plan_has_its_kinds_and_they_exist(method: str) -> None:
    assert lost.of_method(method) <= {*KINDS, DEFAULT_POOL}


def test_a_method_without_kinds_is_refused() -> None:
    with pytest.raises(LookupError):
        lost.of_method("storage.buckets.insert")


def log(folder: Path, *kinds: str) -> Path:
    file = folder / "events.jsonl"
    events = [{"resOutputsEvent": {"metadata": {"type": "gcp:compute/network:Network"}}}]
    events += [{"resOpFailedEvent": {"metadata": {"type": kind}}} for kind in kinds]
    file.write_text("".join(f"{json.dumps(one)}\n" for one in events))
    return file


def test_a_kill_loses_the_answers_of_the_operations_that_failed_on_its_side(tmp_path: Path) -> None:
    events = log(tmp_path, lost.POOL, MODEL)
    assert lost.of_kill("provider", events) == lost.of_kill("emulator", events) == {lost.POOL}
    assert lost.of_kill("kubernetes", events) == {"serving.kserve.io/v1alpha2/LLMInferenceService"}
    assert lost.of_kill("engine", events) == frozenset()


def test_a_cluster_whose_answer_was_lost_brings_its_default_pool(tmp_path: Path) -> None:
    assert lost.of_kill("provider", log(tmp_path, lost.CLUSTER)) == {lost.CLUSTER, DEFAULT_POOL}


def test_without_a_log_nothing_was_lost(tmp_path: Path) -> None:
    assert lost.of_kill("provider", tmp_path / "none.jsonl") == frozenset()
