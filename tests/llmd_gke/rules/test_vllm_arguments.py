"""Arguments with which the server would not start: two in one entry, misspelt ones, a context that is too long."""

from __future__ import annotations

import pytest

from llmd_gke.rules import models, vllm_arguments

QWEN, UNKNOWN = "hf://Qwen/Qwen3-4B", "hf://someone/a-model"


def test_an_argument_and_its_value_in_one_entry_are_told_apart() -> None:
    (finding,) = vllm_arguments.server_arguments(["--max-num-seqs 64"])
    assert finding.severity == "error"
    assert finding.fix == "write --max-num-seqs=64"


@pytest.mark.parametrize("fits", [["--seed", "7"], ["--seed=7"], ['--limit={"a": 1, "b": 2}'], ['{"a b": 1}']])
def test_values_with_spaces_are_no_such_entry(fits: list[str]) -> None:
    assert list(vllm_arguments.server_arguments(fits)) == []


def test_a_misspelt_argument_of_a_setting_is_a_warning_that_names_the_setting() -> None:
    (finding,) = vllm_arguments.server_arguments(["--tensor-paralel-size=4"])
    assert finding.severity == "warning"
    assert "looks like a misspelling of --tensor-parallel-size" in finding.problem
    assert finding.fix == "set tensorParallel"


@pytest.mark.parametrize(
    "name", ["--enable-chunked-prefill", "--data-parallel-size", "--max-num-partial-prefills", "--kv-cache-dtype"]
)
def test_arguments_that_vllm_has_are_not_taken_for_misspelt_ones(name: str) -> None:
    assert list(vllm_arguments.server_arguments([f"{name}=1"])) == []


@pytest.mark.parametrize(("uri", "limit"), [(QWEN, 40_960), (UNKNOWN, models.LONGEST_CONTEXT)])
def test_a_context_longer_than_the_model_s_is_refused(uri: str, limit: int) -> None:
    assert list(models.context(uri, limit, [])) == []
    (finding,) = models.context(uri, limit + 1, [])
    assert finding.allowed == f"1 to {limit}"
    assert list(models.context(uri, limit + 1, ['--hf-overrides={"rope_scaling": {}}'])) == []
