"""For which stacks a laptop cloud builds the endpoint picker that counts requests in flight."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.cluster import saturation
from localcloud.common.workdir import Workdir

MODELS = "config:\n  llmd-gke:models: [{name: a}, %s]\n"


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("{name: b, scheduler: {saturation: {maxConcurrency: 4}}}", True),
        ("{name: b, scheduler: {saturation: {headroom: 0.2}}}", False),
        ("{name: b, scheduler: {profile: load}}", False),
        ("{name: b, scheduler: 7}", False),
        ("7", False),
    ],
)
def test_the_counting_picker_is_for_stacks_with_a_limit(tmp_path: Path, model: str, expected: bool) -> None:
    (tmp_path / "Pulumi.some.yaml").write_text(MODELS % model)
    assert saturation.asked(Workdir(tmp_path, tmp_path / "home", "laptop"), "some") is expected
