"""The one line of progress that operations and local clouds show."""

from __future__ import annotations

import io

from rich.console import Console

from llmd_common.progress_line import ProgressLine


def terminal(screen: io.StringIO) -> Console:
    return Console(file=screen, width=80, force_terminal=True, color_system=None, _environ={"TERM": "xterm"})


def test_the_end_removes_the_line_from_a_terminal_and_keeps_what_was_said() -> None:
    screen = io.StringIO()
    with ProgressLine(terminal(screen)) as line:
        line.show("compiling")
        line.say("one is ready")
    last = screen.getvalue().rpartition("compiling")[2]
    assert "one is ready\n" in screen.getvalue()
    assert "\x1b[2K" in last  # erases what is drawn


def test_elsewhere_lines_are_printed_no_more_often_than_asked() -> None:
    now, screen = [0.0], io.StringIO()
    with ProgressLine(Console(file=screen, width=20), every_seconds=10, clock=lambda: now[0]) as line:
        for second in range(21):
            now[0] = float(second)
            line.show(f"compiling [bold] package number {second}")
    assert screen.getvalue().splitlines() == [f"compiling [bold] package number {second}" for second in (0, 10, 20)]
