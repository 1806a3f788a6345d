"""``llmd-gke stop`` and ``start`` on the real engine: what goes, what stays, and the way back."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.real_engine.harness import Rehearsal

MAKE = """\
#!/bin/sh
exec "{python}" -m localcloud "$1" --stack "${{2#STACK=}}"
"""
"""The target ``up`` of the Makefile, which a rehearsal's folder lacks."""


@pytest.fixture
def call(running: Rehearsal) -> Callable[..., subprocess.CompletedProcess[str]]:
    folder = running.folder / "bin"
    folder.mkdir()
    (folder / "make").write_text(MAKE.format(python=sys.executable))
    (folder / "make").chmod(0o755)

    def run(verb: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "operations", verb, "--stack", "local"],
            cwd=running.folder,
            env=running.environment | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    return run


def kinds(rehearsal: Rehearsal) -> Counter[str]:
    return Counter(str(entry["type"]).rpartition("/")[2] for entry in rehearsal.cloud().values())


def service(rehearsal: Rehearsal) -> dict[str, Any]:
    return next(dict(one) for one in rehearsal.cloud().values() if str(one["type"]).endswith("/LLMInferenceService"))


def test_a_stopped_model_loses_what_leads_to_it_and_comes_back_by_a_start(
    running: Rehearsal, call: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    file = running.workdir.stack_file("local")
    before, made = file.read_text(), kinds(running)

    done = call("stop")
    assert done.returncode == 0, done.stderr
    assert "qwen is stopped" in done.stdout
    lines = file.read_text().splitlines()
    assert lines.pop(lines.index("    - name: qwen") + 1) == "      stopped: true"
    assert lines == before.splitlines()
    gone = made - kinds(running)
    assert gone["HTTPRoute"] == 1
    assert "LLMInferenceService" not in gone
    assert "serving.kserve.io/stop" in str(service(running))
    assert gone["alertPolicy:AlertPolicy"] > 0, "alerts about a model that is stopped on purpose"

    assert "already: nothing was changed" in call("stop").stdout

    done = call("start")
    assert done.returncode == 0, done.stderr
    assert file.read_text() == before
    assert kinds(running) == made
    assert "serving.kserve.io/stop" not in str(service(running))
