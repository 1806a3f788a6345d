"""Nothing is built or run unless the environment asks for it."""

from __future__ import annotations

import pytest

from llmd_common.problems import BadInput
from localcloud.monitoring import options


@pytest.mark.parametrize(("value", "factor"), [("", 0), ("0", 0), ("1", 1), ("30", 30), ("2.5", 2.5)])
def test_the_variable_says_whether_and_how_much_faster(value: str, factor: float) -> None:
    assert options.faster({"LLMD_GKE_PROMETHEUS": value}) == factor
    assert bool(options.programs({"LLMD_GKE_PROMETHEUS": value})) is bool(factor)
    assert options.programs({}) == ()


@pytest.mark.parametrize("value", ["yes", "-1", "0.5", "nan", "inf", "1001"])
def test_another_value_is_refused_with_what_is_allowed(value: str) -> None:
    with pytest.raises(BadInput, match=rf"LLMD_GKE_PROMETHEUS={value}: allowed: 0, or .*\nFix: set 1"):
        options.faster({"LLMD_GKE_PROMETHEUS": value})
