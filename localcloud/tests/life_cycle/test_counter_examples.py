"""Plans that failed once, played again: `.ci/full faults` does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.tests.life_cycle.counter_examples import COUNTER_EXAMPLES
from localcloud.tests.life_cycle.machine import Machine
from localcloud.tests.life_cycle.steps import from_text


@pytest.mark.google
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", COUNTER_EXAMPLES)
def test_what_was_wrong_once_is_right(name: str, tmp_path: Path) -> None:
    assert Machine(tmp_path).lived(from_text(COUNTER_EXAMPLES[name].plan)).wrong == []
