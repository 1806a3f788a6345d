"""What a command costs is measured with everything that it starts."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from benchmarks import limits


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
