"""Room to build, and the estimate of what is left."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from llmd_common.problems import SetUpFailed
from localcloud.binaries.table import PROGRAMS
from localcloud.go_builds import capacity_check
from localcloud.go_builds.build import PROGRAM_MB, STANDARD_MB
from localcloud.go_builds.capacity_check import MachineCapacity, check_disk, compilers
from localcloud.go_builds.go_toolchain import Purpose
from localcloud.go_builds.progress import Display, Estimate

PLENTY = MachineCapacity(cache_mb=50_000, memory_mb=16_000, processors=4)
PURPOSE = Purpose("the engine", "install Pulumi itself")


def having(**changes: Any) -> MachineCapacity:
    return replace(PLENTY, **changes)


def test_little_memory_means_fewer_compilers() -> None:
    assert compilers(having(memory_mb=2400), 1500, PURPOSE) == 2
    assert compilers(having(memory_mb=2399), 1500, PURPOSE) == 1


def test_too_little_disk_space_is_refused_with_both_numbers_and_the_fix() -> None:
    check_disk(having(cache_mb=4000), 4000, Path("/c"), PURPOSE)
    with pytest.raises(SetUpFailed, match="3999 MB are free at /c, 4000 MB are needed") as raised:
        check_disk(having(cache_mb=3999), 4000, Path("/c"), PURPOSE)
    assert "Fix: free some space, or set LLMD_GKE_CACHE" in str(raised.value)


def test_too_little_memory_is_refused_with_both_numbers_and_what_to_do_instead() -> None:
    with pytest.raises(SetUpFailed, match="800 MB are available, 1500 MB are needed") as raised:
        compilers(having(memory_mb=800), 1500, PURPOSE)
    assert "Fix: close other programs, or install Pulumi itself" in str(raised.value)


def test_building_the_laptop_clouds_programs_takes_at_most_twelve_gigabytes_of_disk() -> None:
    programs = [one for one in PROGRAMS if "conformance" not in one.wrapper.name]  # those are tests of it
    wrappers = list({one.wrapper.name: one.wrapper for one in programs}.values())
    # While one is compiled, the modules of the next one come. What each takes was measured (docs/laptop-programs.md).
    peaks = [one.modules_mb + one.disk_mb + after.modules_mb for one, after in pairwise(wrappers)]
    peaks.append(wrappers[-1].modules_mb + wrappers[-1].disk_mb)
    assert max(peaks) + STANDARD_MB + len(programs) * PROGRAM_MB <= 12_000


def test_the_limit_of_a_control_group_counts(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text(f"{900 << 20}\n")
    (tmp_path / "memory.current").write_text(f"{400 << 20}\n")
    assert capacity_check.memory_mb(tmp_path) == 500
    (tmp_path / "memory.max").write_text("max\n")
    assert capacity_check.memory_mb(tmp_path) > 500


def test_the_estimate_follows_the_first_guess_and_then_the_build() -> None:
    estimate = Estimate({"a": 10, "b": 10, "c": 20}, expected_seconds=100)
    assert estimate.left_seconds(0) == 100
    estimate.compiled("a")
    assert estimate.count == (1, 3)
    early = estimate.left_seconds(50)
    estimate.compiled("b")
    estimate.compiled("b")
    estimate.compiled("not part of it")
    assert estimate.count == (2, 3)
    assert estimate.share == pytest.approx(0.47)
    assert estimate.left_seconds(100) == pytest.approx(100 * 0.53 / 0.47)
    assert early > 0


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=30), st.floats(0, 1e4), st.data())
def test_share_grows_to_the_part_that_linking_leaves_and_nothing_is_negative(
    weights: list[float], elapsed: float, data: st.DataObject
) -> None:
    named = {str(number): weight for number, weight in enumerate(weights)}
    estimate = Estimate(named, expected_seconds=100)
    last = 0.0
    for name in data.draw(st.permutations(list(named))):
        estimate.compiled(name)
        assert estimate.share >= last
        assert estimate.left_seconds(elapsed) >= 0
        last = estimate.share
    assert estimate.share == pytest.approx(0.94)


def test_without_a_terminal_a_line_comes_every_ten_seconds() -> None:
    now, screen = [0.0], io.StringIO()
    with Display(Console(file=screen, width=200), "engine", clock=lambda: now[0]) as display:
        for second in range(25):
            now[0] = float(second)
            display.show("compiling, package 1 of 2", share=0.5, left_seconds=25.0 - second)
    lines = screen.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[1] == "engine: compiling, package 1 of 2, 50%, 10 s so far, about 15 s left"
