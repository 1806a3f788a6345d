"""The pack in somebody else's project: installed into an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from rich.console import Console

from llmd_gke.repository import CLONE
from localcloud.common.environment import clean
from localcloud.common.workdir import cache_folder
from localcloud.pulumi_cli import resolve
from policies import pack
from tests import wheels
from tests.real_engine.harness import Rehearsal

EXAMPLE = CLONE / "examples" / "policies-only"


def test_the_example_is_previewed_with_the_policies_and_refused_with_a_mistake(tmp_path: Path, engine: None) -> None:
    binary = resolve.ensure(cache_folder(), Console(quiet=True)).pulumi
    rehearsal = Rehearsal(tmp_path)
    project, workdir = rehearsal.root, rehearsal.workdir
    shutil.copytree(EXAMPLE, project)
    wheels.environment(project, "policies")
    rehearsal.make("env")

    def pulumi(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(binary), "-C", str(project), "--non-interactive", *arguments]
        return subprocess.run(
            command, env=clean(os.environ, workdir), capture_output=True, text=True, check=False, timeout=300
        )

    assert pulumi("stack", "init", "dev").returncode == 0
    preview = pulumi("preview", "--policy-pack", str(project / "pack"))
    assert preview.returncode == 0, preview.stdout + preview.stderr
    assert f"llmd-gke@v{pack.VERSION}" in preview.stdout
    program = (project / "__main__.py").read_text()
    mistake = program.replace('"rules": [{', '"rules": [{"timeouts": {"request": "30s"}, ')
    assert mistake != program
    (project / "__main__.py").write_text(mistake)
    refused = pulumi("preview", "--policy-pack", str(project / "pack"))
    assert refused.returncode != 0
    assert "route-timeouts" in refused.stdout
    assert "docs/policies/routes.md#route-timeouts" in refused.stdout
