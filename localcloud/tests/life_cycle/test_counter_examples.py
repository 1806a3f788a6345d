"""Plans that failed once, played again: `.ci/full faults` does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.binaries import resolve
from localcloud.common.workdir import cache_folder
from localcloud.tests.life_cycle.__main__ import played
from localcloud.tests.life_cycle.counter_examples import COUNTER_EXAMPLES
from localcloud.tests.life_cycle.steps import from_text
from localcloud.tests.published_provider.conftest import PLUGIN


@pytest.mark.google
@pytest.mark.skipif(
    resolve.ready(PLUGIN, cache_folder()) is None, reason=f"{PLUGIN} is not built: {resolve.COMMAND} {PLUGIN}"
)
@pytest.mark.parametrize("name", COUNTER_EXAMPLES)
def test_what_was_wrong_once_is_right(name: str, tmp_path: Path) -> None:
    assert played(from_text(COUNTER_EXAMPLES[name].plan), tmp_path).wrong == []
