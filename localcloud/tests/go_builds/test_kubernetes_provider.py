"""Pulumi's Kubernetes provider is built without the component resources that this project does not use."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_program_uses_none_of_the_components_that_are_left_out() -> None:
    sources = [ROOT / "__main__.py", *(ROOT / "components").rglob("*.py"), *(ROOT / "charts").rglob("*.py")]
    assert len(sources) > 10
    left_out = r"helm\.v4|yaml\.v2|kustomize\.v2|\b(?:ConfigFile|ConfigGroup|Directory|Chart)\("
    used = {str(file.relative_to(ROOT)): one for file in sources for one in re.findall(left_out, file.read_text())}
    assert used == {}
