"""How engine commands are started and watched."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from llmd_common.problems import Problem
from localcloud.common.workdir import Workdir
from localcloud.pulumi_cli.discover import Engine
from localcloud.workflow import runner

SUPERVISED = """
import os, sys
from localcloud.workflow import runner
os.register_at_fork(before=lambda: os._exit(70))
sys.exit(runner.supervise([sys.executable, "-c", "import sys; sys.exit(3)"], dict(os.environ)))
"""

SIGNALS_SEEN = """
import json, signal, sys
json.dump([int(one) for one in signal.pthread_sigmask(signal.SIG_BLOCK, ())], open(sys.argv[1], "w"))
"""


def test_a_command_starts_without_running_fork_handlers() -> None:
    """GRPC's abort a copy of a process in which its threads are at work."""
    ended = subprocess.run([sys.executable, "-c", SUPERVISED], check=False, stdin=subprocess.DEVNULL)
    assert ended.returncode == 3


def test_a_command_starts_with_no_signal_blocked(tmp_path: Path) -> None:
    seen = tmp_path / "blocked.json"
    assert runner.supervise([sys.executable, "-c", SIGNALS_SEEN, str(seen)], {}) == 0
    assert json.loads(seen.read_text()) == []


def test_a_command_that_fails_is_told_in_the_engines_own_words(tmp_path: Path) -> None:
    engine = tmp_path / "pulumi"
    engine.write_text("#!/bin/sh\necho 'error: no stack of that name' >&2\nexit 255\n")
    engine.chmod(0o755)
    asking = runner.Runner(Workdir(tmp_path, tmp_path / ".rehearsal"), Engine(engine, "3.259.0", "a test"))
    told = r"(?s)^error: no stack of that name.*`pulumi stack ls` failed.*\nFix: [^\n]*run the command again"
    with pytest.raises(Problem, match=told):
        asking.ask("stack", "ls")
