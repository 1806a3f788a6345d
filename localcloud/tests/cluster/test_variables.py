"""Variables that a user sets about the laptop cloud: what cannot be used is refused before anything starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from llmd_common.problems import BadInput
from localcloud.cluster import lifecycle, variables
from localcloud.common.workdir import Workdir

GOOD = {
    "LLMD_GKE_NODE_START_SECONDS": "0",
    "LLMD_GKE_SIMULATOR_ARGS": "--time-to-first-token '200 ms'",
}
BAD = {
    "LLMD_GKE_NODE_START_SECONDS": "soon",
    "LLMD_GKE_MODEL_START_SECONDS": "nan",
    "LLMD_GKE_SCALE_DOWN_SECONDS": "-1",
    "LLMD_GKE_BACK_OFF_SECONDS": "86400",
    "LLMD_GKE_SIMULATOR_ARGS": "--time-to-first-token '200 ms",
    "LLMD_GKE_PROMETHEUS": "yes",
}


@pytest.mark.parametrize("environment", [{}, GOOD, dict.fromkeys(BAD, "")])
def test_what_can_be_used_or_is_not_set_is_accepted(environment: Mapping[str, str]) -> None:
    variables.check(environment)


@pytest.mark.parametrize(("name", "value"), BAD.items())
def test_what_cannot_be_used_is_named_with_its_value_and_the_fix_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.delenv("LLMD_GKE_HOME", raising=False)
    monkeypatch.setenv(name, value)
    with pytest.raises(BadInput) as refusal:
        lifecycle.check(Workdir.of(tmp_path, kind="laptop"))
    message = str(refusal.value)
    assert message.startswith(f"{name}={value}: ")
    assert "\nFix: " in message
    assert f"unset {name}" in message
