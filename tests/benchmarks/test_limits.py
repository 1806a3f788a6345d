"""The table of limits says what holds, and what would hold on an idle machine."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from benchmarks import limits
from benchmarks.limits import Measured


def test_a_line_says_whether_its_limit_holds_and_what_two_idle_cores_would_need() -> None:
    lines = [
        Measured("make: first up", 45, 44.4, 30.2),
        Measured("make: preview", 5, 5.6, 6),
        Measured("make: second up", 10, 3, 3, "it changed something"),
        Measured("make: down", None, 9, 9),
    ]
    text = limits.table(lines, "2 cores")
    assert text.startswith("Measured on 2 cores.\n")
    assert "| make: first up | 45 | 44.4 | 30 | 15 | yes |" in text
    assert "| make: preview | 5 | 5.6 | 6 | 3 | NO |" in text
    assert "| make: second up | 10 | 3.0 | 3 | 2 | it changed something |" in text
    assert "| make: down |  | 9.0 | 9 | 4 |  |" in text
    assert [line.holds for line in lines] == [True, False, False, True]


def test_processor_time_of_everything_a_command_starts_is_counted() -> None:
    busy = "import time\nwhile time.process_time() < 0.4: pass"
    command = ("sh", "-c", f'"{sys.executable}" -c "{busy}"; "{sys.executable}" -c "{busy}"')
    line = limits.measured("busy", command, os.environ)
    assert line.processor >= 0.8
    assert line.wall >= 0.4


def test_a_process_that_outlives_its_command_is_counted() -> None:
    """In a process of its own: the test run must not adopt what its other tests leave."""
    busy = "import time\nwhile time.process_time() < 0.4: pass"
    script = (
        "import os, sys\nfrom benchmarks import limits\nlimits.adopt()\n"
        f"words = ('sh', '-c', '\"$0\" -c \"$1\" > /dev/null &', sys.executable, {busy!r})\n"
        "print(limits.measured('orphan', words, os.environ).processor)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=limits.ROOT, capture_output=True, text=True, check=True)
    assert float(done.stdout) >= 0.4


@pytest.mark.parametrize(
    ("output", "changed"), [("    + 4 created\n", True), ("    ~ 1 updated\n", True), ("    65 unchanged\n", False)]
)
def test_a_second_up_that_changes_something_breaks_its_limit(output: str, changed: bool) -> None:
    line = limits.measured("up", ("printf", "%s", output), os.environ, limit=10, changes=False)
    assert bool(line.broken) is changed
    assert line.holds is not changed
