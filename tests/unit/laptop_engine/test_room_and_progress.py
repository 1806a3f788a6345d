"""Room to build, and the estimate of what is left."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from llmd_gke.laptop.engine import room
from llmd_gke.laptop.engine.progress import Display, Estimate, duration
from llmd_gke.laptop.engine.room import Room, compilers
from llmd_gke.laptop.errors import SetUpFailed

PLENTY = Room(cache_mb=50_000, modules_mb=50_000, same_disk=True, memory_mb=16_000, processors=4)
WHERE = {"cache": Path("/c"), "modules": Path("/m")}


def having(**changes: Any) -> Room:
    return replace(PLENTY, **changes)


def test_as_many_compilers_run_as_there_are_processors() -> None:
    assert compilers(PLENTY, **WHERE, modules_present=False) == 4


def test_little_memory_means_fewer_compilers() -> None:
    assert compilers(having(memory_mb=2000), **WHERE, modules_present=False) == 2


@pytest.mark.parametrize(
    ("changes", "modules_present", "said"),
    [
        ({"cache_mb": 2000}, True, "2000 MB free at /c, 4000 MB needed"),
        ({"cache_mb": 5000}, False, "5000 MB free at /c, 5500 MB needed"),
        ({"modules_mb": 100, "same_disk": False}, False, "100 MB free at /m, 1500 MB needed"),
        ({"memory_mb": 800}, True, "800 MB can be used"),
    ],
)
def test_too_little_room_is_refused_before_anything_is_built(
    changes: dict[str, int], modules_present: bool, said: str
) -> None:
    with pytest.raises(SetUpFailed) as raised:
        compilers(having(**changes), **WHERE, modules_present=modules_present)
    assert said in str(raised.value)
    assert "Fix:" in str(raised.value)


def test_modules_that_are_there_need_no_room() -> None:
    assert compilers(having(modules_mb=100, same_disk=False), **WHERE, modules_present=True) == 4


def test_the_limit_of_a_control_group_counts(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text(f"{900 << 20}\n")
    (tmp_path / "memory.current").write_text(f"{400 << 20}\n")
    assert room.memory_mb(tmp_path) == 500
    (tmp_path / "memory.max").write_text("max\n")
    assert room.memory_mb(tmp_path) > 500


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (60, "1 min 00 s"), (95.4, "1 min 35 s")])
def test_a_duration_reads_well(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_estimate_follows_the_first_guess_and_then_the_build() -> None:
    estimate = Estimate({"a": 10, "b": 10, "c": 20}, expected_s=100)
    assert estimate.left_s(0) == 100
    estimate.compiled("a")
    assert estimate.count == (1, 3)
    early = estimate.left_s(50)
    estimate.compiled("b")
    estimate.compiled("b")
    estimate.compiled("not part of it")
    assert estimate.count == (2, 3)
    assert estimate.share == pytest.approx(0.47)
    assert estimate.left_s(100) == pytest.approx(100 * 0.53 / 0.47)
    assert early > 0


def test_an_interrupted_build_is_measured_on_from_where_it_stopped() -> None:
    estimate = Estimate({"a": 50, "b": 50}, expected_s=100, before=["a", "gone"])
    assert estimate.count == (1, 2)
    assert estimate.left_s(0) == pytest.approx(100 * 0.53)
    estimate.compiled("b")
    assert estimate.left_s(47) == pytest.approx(47 * 0.06 / 0.47)


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=30), st.floats(0, 1e4), st.data())
def test_share_grows_to_the_part_that_linking_leaves_and_nothing_is_negative(
    weights: list[float], elapsed: float, data: st.DataObject
) -> None:
    named = {str(number): weight for number, weight in enumerate(weights)}
    estimate = Estimate(named, expected_s=100)
    last = 0.0
    for name in data.draw(st.permutations(list(named))):
        estimate.compiled(name)
        assert estimate.share >= last
        assert estimate.left_s(elapsed) >= 0
        last = estimate.share
    assert estimate.share == pytest.approx(0.94)


def test_without_a_terminal_a_line_comes_every_ten_seconds() -> None:
    now, screen = [0.0], io.StringIO()
    with Display(Console(file=screen, width=200), clock=lambda: now[0]) as display:
        for second in range(25):
            now[0] = float(second)
            display.show("compiling, package 1 of 2", share=0.5, left_s=25.0 - second)
    lines = screen.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[1] == "engine: compiling, package 1 of 2, 50%, 10 s so far, about 15 s left"
