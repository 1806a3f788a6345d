"""The bills of materials hold exactly what is pinned."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from operations import sbom

ROOT = Path(__file__).parents[2]
SETS = sorted(file for folder in sbom.FOLDERS for file in (ROOT / folder).glob("*.txt"))


@pytest.mark.parametrize("file", SETS, ids=lambda file: file.stem)
def test_every_pin_and_every_hash_of_a_set_is_in_its_document(file: Path) -> None:
    text = sbom.complete(file)
    made: Any = sbom.document(file.stem, text)
    pins = set(re.findall(r"^([\w.-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", text, re.M))
    assert pins
    assert {(one["name"], one["version"]) for one in made["components"]} == pins
    hashes = [digest["content"] for one in made["components"] for digest in one["hashes"]]
    assert sorted(hashes) == sorted(re.findall(r"--hash=sha256:([0-9a-f]{64})", text))
    refs = {one["bom-ref"] for one in made["components"]}
    assert len(refs) == len(made["components"])
    named = {ref for one in made["dependencies"] for ref in (one["ref"], *one["dependsOn"])}
    assert named == refs | {f"llmd-gke-{file.stem}"}


def test_what_asks_for_a_package_is_said() -> None:
    made: Any = sbom.document("program", (ROOT / "requirements" / "program.txt").read_text())
    needs = {one["ref"].split("@")[0]: one["dependsOn"] for one in made["dependencies"]}
    assert any(ref.startswith("pkg:pypi/annotated-types@") for ref in needs["pkg:pypi/pydantic"])
    assert any(ref.startswith("pkg:pypi/pulumi-gcp@") for ref in needs["llmd-gke-program"])


@pytest.mark.parametrize("text", ["a==1\n", "a>=1 \\\n    --hash=sha256:00\n", "-e .\n", "git+https://x\n"])
def test_what_is_not_pinned_by_hash_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="hash"):
        sbom.packages(text)


def test_the_command_needs_nothing_but_python(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", str(ROOT / "operations" / "sbom.py"), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = {file.name for file in (tmp_path / "out").iterdir()}
    assert made == {f"{file.stem}.cdx.json" for file in SETS}
    assert json.loads((tmp_path / "out" / "program.cdx.json").read_text())["bomFormat"] == "CycloneDX"
