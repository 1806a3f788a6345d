"""What a stack must not take over, and what is too old."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from llmd_gke.settings import SettingsError
from llmd_gke.settings.load import load_stack, read_config
from tests.abbreviations import VARIANTS
from tests.llmd_gke.settings.conftest import Config


def test_a_key_that_stands_twice_is_named_and_not_lost(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.twice.yaml").write_text("config:\n  gcp:project: first-one\n  gcp:project: second-one\n")
    with pytest.raises(SettingsError, match="gcp:project is a duplicate key, line 3, column 3"):
        load_stack(tmp_path, "twice")


@pytest.mark.parametrize(
    "arguments", [["-tp", "8"], ["--host=127.0.0.1"], ["-pp", "2"], ["-q", "gptq"], *(argv for _, argv in VARIANTS)]
)
def test_short_names_of_arguments_pass_no_rule_by(
    config: Config, refused: Callable[[Config], str], arguments: list[str]
) -> None:
    config["llmd-gke:models"][0]["extraArgs"] = arguments
    message = refused(config)
    assert "[tpu-server-argument]" in message
    assert "abcdef" not in message


def test_a_token_in_plain_text_is_refused_and_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.open.yaml").write_text("config:\n  llmd-gke:hfToken: hf_very_private\n")
    with pytest.raises(SettingsError) as caught:
        load_stack(tmp_path, "open")
    assert "llmd-gke:hfToken\n    the stack file contains a secret in plain text" in str(caught.value)
    assert "hf_very_private" not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("off", "off"),
        ("yes", "yes"),
        ("02:00", "02:00"),
        ('"2026-11-21"', "2026-11-21"),
        ("1e3", 1000.0),
        ("true", True),
        ("7", 7),
        ("~", None),
    ],
)
def test_a_stack_file_means_here_what_it_means_to_the_engine(tmp_path: Path, written: str, read: object) -> None:
    (tmp_path / "Pulumi.x.yaml").write_text(f"config:\n  gcp:project: {written}\n")
    assert read_config(tmp_path, "x")["gcp:project"] == read
