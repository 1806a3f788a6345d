from __future__ import annotations

from ipaddress import IPv4Network

import pytest
from hypothesis import assume, given
from hypothesis import strategies as some

from llmd_gke.catalog.accelerators import TPU
from llmd_gke.rules import models, names, vllm_arguments


@pytest.mark.parametrize(
    "uri", ["gs://bucket/model", "Qwen/Qwen3-4B", "hf://", "", "https://host/x", "hf://Qwen", "hf://a/b/c"]
)
def test_other_uris_are_refused(uri: str) -> None:
    (finding,) = models.uri(uri)
    assert finding.rule == "model-uri"
    assert finding.allowed


def test_a_password_in_place_of_a_tag_is_not_repeated_where_it_cannot_be_recognised() -> None:
    image = "https://user:s3cr3t-word@example.com"
    (finding,) = models.image(image)
    assert "its tag can change" in finding.problem
    assert "s3cr3t-word" not in finding.problem.replace(image, "")


@pytest.mark.parametrize(
    ("uri", "machine", "topology", "severity"),
    [
        ("hf://Qwen/Qwen3-4B", "ct6e-standard-1t", "1x1", None),
        ("hf://Qwen/Qwen3-32B", "ct6e-standard-1t", "1x1", "error"),
        ("hf://Qwen/Qwen3-32B", "ct6e-standard-4t", "2x2", None),
        ("hf://meta-llama/Llama-3.3-70B-Instruct", "ct6e-standard-4t", "2x2", "error"),
        ("hf://meta-llama/Llama-3.3-70B-Instruct", "ct6e-standard-8t", "2x4", None),
        ("hf://someone/unknown", "ct6e-standard-1t", "1x1", None),
    ],
)
def test_weights_leave_room_for_the_cache(uri: str, machine: str, topology: str, severity: str | None) -> None:
    result = [finding.severity for finding in models.weights(uri, machine, topology)]
    assert result == ([severity] if severity else [])


def test_tight_weights_are_a_warning() -> None:
    tight = "hf://google/gemma-3-27b-it"  # 54.8 GB
    (finding,) = models.weights(tight, "ct5lp-hightpu-4t", "2x2")  # of 64
    assert finding.severity == "warning"


def test_an_untested_model_is_only_a_warning() -> None:
    (finding,) = models.known_to_run("hf://someone/model")
    assert finding.severity == "warning"
    assert list(models.known_to_run("hf://Qwen/Qwen3-4B")) == []
    assert list(models.known_to_run("pvc://claim/model")) == []


@pytest.mark.parametrize("argument", [*TPU.refused_arguments, *vllm_arguments.OWNED_ARGUMENTS])
@pytest.mark.parametrize("shape", ["{}", "{}=1"])
def test_arguments_nobody_writes_by_hand_are_refused_in_every_spelling(argument: str, shape: str) -> None:
    for spelling in (argument, f"--{argument.removeprefix('--').replace('-', '_')}"):
        (finding,) = vllm_arguments.server_arguments([shape.format(spelling)])
        assert finding.rule == "tpu-server-argument"
        assert argument in finding.problem


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        (["--quantization", "fp8"], True),
        (["--quantization=awq"], False),
        (["--quantization"], False),
        (["--kv-transfer-config", '{"kv_connector": "TPUConnector"}'], True),
        (["--kv-transfer-config", '{"kv_connector": "NixlConnector"}'], False),
        (["--block-size", "32", "--seed", "7"], True),
        ([], True),
    ],
)
def test_arguments_with_values_of_other_accelerators_are_refused(arguments: list[str], fits: bool) -> None:
    assert (list(vllm_arguments.server_arguments(arguments)) == []) is fits


def test_a_policy_can_allow_what_settings_write() -> None:
    assert list(vllm_arguments.server_arguments(["--port", "8000", "--dtype", "auto"], owned={})) == []


@given(some.text("aZ09-_. /é名", max_size=30))
def test_the_name_that_is_proposed_is_a_valid_one(name: str) -> None:
    findings = list(names.label(name, "name", 200))
    assume(findings)
    for finding in findings:
        assert list(names.label(finding.fix.removeprefix("for example "), "name", 200)) == []


@pytest.mark.parametrize(
    ("project", "valid"),
    [
        ("my-project", True),
        ("rehearsal", True),
        ("ab", False),
        ("My-Project", False),
        ("1project", False),
        ("project-", False),
    ],
)
def test_project_ids_are_googles(project: str, valid: bool) -> None:
    assert (list(names.project(project)) == []) is valid


@pytest.mark.parametrize(
    ("value", "fix"),
    [
        ("10.0.0.1/20", "for example 10.0.0.0/20"),
        ("203.0.113.7", "for example 203.0.113.7/32"),
        ("999.0.0.0/8", "for example 10.0.0.0/20"),
        ("10.0.0.0/33", "for example 10.0.0.0/20"),
        ("office", "for example 10.0.0.0/20"),
        ("", "for example 10.0.0.0/20"),
    ],
)
def test_what_is_no_range_is_refused_with_one_that_is(value: str, fix: str) -> None:
    (finding,) = names.cidr(value)
    assert finding.fix == fix


RANGES = some.builds(
    lambda a, bits: str(IPv4Network((a, bits), strict=False)), some.integers(0, 2**32 - 1), some.integers(4, 30)
)


@given(RANGES, RANGES)
def test_two_ranges_are_accepted_exactly_if_they_do_not_overlap(one: str, other: str) -> None:
    apart = not IPv4Network(one).overlaps(IPv4Network(other))
    assert (list(names.disjoint({"one": one, "other": other})) == []) == apart


def test_every_pair_of_overlapping_ranges_is_named() -> None:
    result = list(names.disjoint({"a": "10.0.0.0/8", "b": "10.1.0.0/16", "c": "192.168.0.0/16", "d": "10.2.0.0/16"}))
    assert [finding.problem for finding in result] == [
        "b 10.1.0.0/16 overlaps a 10.0.0.0/8",
        "d 10.2.0.0/16 overlaps a 10.0.0.0/8",
    ]
