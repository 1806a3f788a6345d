"""Arguments with which the server would not start: two in one entry, misspelt ones, a context that is too long."""

from __future__ import annotations

import pytest

from llmd_gke.catalog import versions, vllm
from llmd_gke.catalog.accelerators import DEFAULT
from llmd_gke.rules import callers, egress, models, tracing, vllm_arguments, vllm_parser
from tests.abbreviations import VARIANTS

QWEN, UNKNOWN = "hf://Qwen/Qwen3-4B", "hf://someone/a-model"


def test_an_argument_and_its_value_in_one_entry_are_told_apart() -> None:
    (finding,) = vllm_arguments.server_arguments(["--max-num-seqs 64"])
    assert finding.severity == "error"
    assert finding.fix == "write --max-num-seqs=64"


def test_a_misspelt_argument_of_a_server_of_unknown_version_is_a_warning_that_names_the_setting() -> None:
    (finding,) = vllm_parser.settings(["--tensor-paralel-size=4"], "example.com/fork:v3")
    assert finding.severity == "warning"
    assert finding.fix == "set tensorParallel"


def test_arguments_that_take_the_place_of_removed_ones_exist() -> None:
    named = [word.partition("=")[0] for _, instead in vllm.REMOVED.values() for word in instead.split()]
    assert {word.partition(".")[0] for word in named if word.startswith("--")} <= vllm.OPTIONS
    assert {*vllm.NEEDS, *vllm.NEEDS.values(), *vllm.PARSERS, *vllm.SHORT.values()} <= vllm.OPTIONS
    assert not vllm.OPTIONS & vllm.REMOVED.keys()


def test_the_recorded_arguments_are_those_of_the_pinned_image() -> None:
    pinned = versions.pinned_image(DEFAULT.image)
    assert vllm_arguments.vllm_version(f"{pinned.home}:{pinned.tag}") == vllm.VERSION


@pytest.mark.parametrize(("name", "argv"), VARIANTS)
def test_an_argument_is_read_by_the_name_that_the_server_gives_it(name: str, argv: list[str]) -> None:
    (argument,) = vllm_arguments.read(argv)
    assert argument.name == name


@pytest.mark.parametrize("argv", [["--max-num=4"], ["--ssl", "x"], ["--m", "4"]])
def test_what_could_be_several_arguments_is_refused(argv: list[str]) -> None:
    (finding,) = vllm_arguments.server_arguments(argv)
    assert finding.severity == "error"


def test_a_connector_may_be_given_by_keys() -> None:
    keys = ["--kv-transfer-config.kv_connector=TPUConnector", "--kv-transfer-config.kv_role", "kv_both"]
    assert list(vllm_arguments.server_arguments(keys)) == []


def test_adapters_given_twice_are_refused_because_the_server_keeps_the_last() -> None:
    argv = ["--lora-modules", "a=/a", "b=/b", "--seed", "7", "--lora_modules=c=/c"]
    assert callers.adapters(argv) == ("c",)
    (finding,) = vllm_arguments.server_arguments(argv)
    assert finding.severity == "error"
    assert callers.adapters(["--lora-module", "a=/a", '{"name": "b"}']) == ("a", "b")


def test_rules_about_single_arguments_see_short_ones() -> None:
    assert egress.trusts_remote_code(["--trust_remote"])
    assert not egress.trusts_remote_code(["--trust-request-chat-template"])
    assert list(tracing.server(["--collect=all"], []))
    assert list(models.context(UNKNOWN, models.LONGEST_CONTEXT + 1, ["--hf-over.rope_scaling={}"])) == []


def test_a_command_line_of_the_server_needs_no_argument_in_full_for_an_abbreviation_to_be_one() -> None:
    (finding,) = vllm_arguments.server_arguments(["vllm", "serve", "m", "--por", "8001"], owned={})
    assert "--port" in finding.problem
    assert not list(vllm_arguments.server_arguments(["serve", "--por", "8001"], owned={})), "another program"


@pytest.mark.parametrize(("tag", "refused"), [("v0.27.0", True), ("v0.17.0", False)])
def test_the_drain_time_is_set_by_hand_only_where_the_program_does_not_set_it(tag: str, refused: bool) -> None:
    owned = vllm_arguments.owned_arguments(f"vllm/vllm-tpu:{tag}")
    assert bool(list(vllm_arguments.server_arguments(["--shutdown-timeout", "0"], owned=owned))) is refused


@pytest.mark.parametrize(("uri", "limit"), [(QWEN, 40_960), (UNKNOWN, models.LONGEST_CONTEXT)])
def test_a_context_longer_than_the_model_s_is_refused(uri: str, limit: int) -> None:
    assert list(models.context(uri, limit, [])) == []
    (finding,) = models.context(uri, limit + 1, [])
    assert finding.allowed == f"1 to {limit}"
    assert list(models.context(uri, limit + 1, ['--hf-overrides={"rope_scaling": {}}'])) == []
