"""The steps of `preview` and `drift`, as in their workflows, with the real engine: no key, no write to the state."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmd_gke.repository import CLONE
from localcloud.common.environment import clean
from localcloud.common.workdir import cache_folder
from localcloud.pulumi_cli import resolve
from tests.real_engine.harness import Rehearsal
from tests.shared_folder import made_once

TOKEN = "hf_CANARY0123456789"


def step(workflow: str, job: str) -> str:
    """The script that runs the engine in a workflow."""
    content = yaml.safe_load((CLONE / ".github" / "workflows" / workflow).read_text())
    return next(one["run"] for one in content["jobs"][job]["steps"] if "pulumi preview" in one.get("run", ""))


class Runner:
    """A machine of GitHub: the engine on PATH, the state where the stack's owner has it, and no passphrase."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self.rehearsal = rehearsal
        engine = resolve.ready(cache_folder())
        assert engine is not None
        plugins = clean(rehearsal.environment, rehearsal.workdir)
        self.environment = {
            **{name: value for name, value in plugins.items() if "PASSPHRASE" not in name},
            "PATH": f"{engine.pulumi.parent}{os.pathsep}{os.environ['PATH']}",
            "STACK": "local",
            "RUNNER_TEMP": str(rehearsal.folder),
        }

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        copy = self.rehearsal.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        return subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=self.rehearsal.root,
            env={**self.environment, "COPY": str(copy)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )


def state_file(rehearsal: Rehearsal) -> Path:
    return rehearsal.workdir.state / ".pulumi" / "stacks" / "llmd-gke" / "local.json"


def gate(config: dict[str, Any]) -> None:
    config["llmd-gke:models"][0]["gated"] = True


@pytest.fixture(scope="session")
def token_brought_up(tmp_path_factory: pytest.TempPathFactory, brought_up: Path) -> Path:
    """Stack `local` with a gated model, so that its state holds a secret of its owner. Made once a run."""

    def bring_up(folder: Path) -> None:
        made = Rehearsal(folder)
        try:
            made.continue_from(brought_up)
            made.edit("local", gate)
            made.pulumi("config", "set", "--stack", "local", "--secret", "llmd-gke:hfToken", TOKEN)
            made.up()
        finally:
            made.stop_everything()

    return made_once(tmp_path_factory, "token-is-up", bring_up)


@pytest.fixture
def with_token(tmp_path: Path, token_brought_up: Path) -> Iterator[Rehearsal]:
    """The same as a copy that the test may change."""
    made = Rehearsal(tmp_path)
    made.continue_from(token_brought_up)
    assert "ciphertext" in state_file(made).read_text()
    yield made
    made.stop_everything()


def test_without_a_key_a_preview_shows_what_changes_and_no_secret(with_token: Rehearsal) -> None:
    before = state_file(with_token).read_bytes()
    runner = Runner(with_token)
    same = runner.run(step("preview.yaml", "preview"))
    assert same.returncode == 0, same.stdout
    assert re.search(r"\d+ unchanged", same.stdout), same.stdout
    assert not re.search(r"to (create|update|replace|delete)", same.stdout), same.stdout

    with_token.edit("local", lambda config: config["llmd-gke:pools"][0].update(maxNodes=9))
    changed = runner.run(step("preview.yaml", "preview"))
    assert changed.returncode == 0, changed.stdout
    assert "1 to update" in changed.stdout
    copied = "".join(path.read_text() for path in (with_token.folder / "copy").rglob("*") if path.is_file())
    assert TOKEN not in copied + changed.stdout
    assert "ciphertext" not in copied
    assert state_file(with_token).read_bytes() == before


def test_drift_is_seen_on_the_copy_and_agreement_is_no_difference(with_token: Rehearsal) -> None:
    runner = Runner(with_token)
    agreed = runner.run(step("drift.yaml", "drift"))
    assert agreed.returncode == 0, agreed.stdout
    file = with_token.workdir.cloud / "kubernetes.json"
    text = file.read_text()
    assert '"timeoutSec": 600' in text
    file.write_text(text.replace('"timeoutSec": 600', '"timeoutSec": 30'))
    drifted = runner.run(step("drift.yaml", "drift"))
    assert drifted.returncode != 0, drifted.stdout
    assert TOKEN not in drifted.stdout
