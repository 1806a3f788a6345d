"""The engine reads a stack file as our tools do: what looks alike means the same, or has to be in quotes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from llmd_gke.settings import stack_yaml
from localcloud.common.workdir import cache_folder
from localcloud.pulumi_cli import resolve

ALIKE = (
    "on", "yes", "off", "No", "y", "~", "null", "Null", "NULL", "True", "TRUE", "tRUE", "false", "1e3", "1.5", "1.",
    ".5", "+.5", "5e-1", "12e03", "0.1e-2", "1.34", "1.30", "+5", "-0", "0", "0x1F", "1:30", "02:00", "=", "0o8", "0b2",
    "_1", "'0777'", '"2026-12-18"', "a b", "1.34.0-gke.1", "v1.34", "10.0.0.0/20", "2x2", "!!str 1", "[1, 2.0]",
    "{a: 1}",
)  # fmt: skip
REJECTED = (
    "0777", "-0777", "08", "0o17", "0b101", "0X1F", "-0x1F", "0x1_F", "1_000", "1__0", "1_000.5", ".inf", "-.Inf",
    ".nan", "1e400", "2026-12-18", "2026-12-18T10:00:00Z", "2026-12-18 10:00:00", "!!binary aGk=",
)  # fmt: skip


def engines_reading(folder: Path, values: tuple[str, ...]) -> list[object]:
    """What the engine makes of plain values inside a structured setting."""
    engine = resolve.ready(cache_folder())
    assert engine is not None
    (folder / "Pulumi.yaml").write_text("name: t\nruntime: python\n")
    (folder / "Pulumi.t.yaml").write_text("config: {}\n")
    (folder / "home").mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "PULUMI_HOME": str(folder / "home"),
        "PULUMI_BACKEND_URL": f"file://{folder}",
        "PULUMI_CONFIG_PASSPHRASE": "test",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }

    def pulumi(*arguments: str) -> str:
        done = subprocess.run(
            [str(engine.pulumi), *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    pulumi("stack", "init", "t", "--non-interactive")
    lines = "".join(f"    k{number}: {value}\n" for number, value in enumerate(values))
    (folder / "Pulumi.t.yaml").write_text(f"config:\n  t:v:\n{lines}")
    data = json.loads(json.loads(pulumi("config", "--json", "--stack", "t"))["t:v"]["value"])
    return [data[f"k{number}"] for number in range(len(values))]


def test_the_engine_reads_plain_values_as_our_tools_do(tmp_path: Path, engine: None) -> None:
    result = engines_reading(tmp_path, ALIKE)
    ours = [stack_yaml.read(f"k: {value}") for value in ALIKE]
    assert {value: read for value, read, mine in zip(ALIKE, result, ours, strict=True) if {"k": read} != mine} == {}
    kinds = [type(one["k"]) for one in ours if isinstance(one, dict)]
    assert kinds == [type(one) for one in result]


@pytest.mark.parametrize("value", REJECTED)
def test_what_the_engine_reads_otherwise_has_to_be_in_quotes(value: str) -> None:
    with pytest.raises(yaml.YAMLError):
        stack_yaml.read(f"k: {value}")
    if not value.startswith("!!"):
        assert stack_yaml.read(f"k: '{value}'") == {"k": value}
