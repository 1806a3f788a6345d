"""The commands of docs/tutorial.md, in their order, in a clone of the repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from llmd_gke.repository import CLONE
from localcloud.common.environment import is_removed

BLOCK = re.compile(r"^```sh(?P<fails> fails)?\n(?P<script>.*?)^```$", re.MULTILINE | re.DOTALL)
WAIT_SECONDS = 600


def link_environment(clone: Path) -> None:
    """Gives the clone the packages of our own environment: `.ci/run` tries installing them, which takes 25 s.

    What is written for a clone is left out: a link would write it here, too.
    """

    def link(source: str, target: str) -> None:
        try:
            os.link(source, target)
        except OSError:  # another file system
            shutil.copy2(source, target)

    ignored = shutil.ignore_patterns("llmd-gke.pth", "llmd-gke")
    if (CLONE / ".venv").is_dir():
        shutil.copytree(CLONE / ".venv", clone / ".venv", symlinks=True, copy_function=link, ignore=ignored)


@pytest.mark.slow
def test_the_tutorials_commands_do_what_it_says(tmp_path: Path, engine: None) -> None:
    clone = tmp_path / "my clone"
    subprocess.run(["git", "clone", "--quiet", str(CLONE), str(clone)], check=True)
    subprocess.run(["git", "switch", "--quiet", "-C", "main"], cwd=clone, check=True)
    link_environment(clone)
    author = {f"GIT_{role}_{what}": "t@t" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    kept = {name: value for name, value in os.environ.items() if not is_removed(name) and name != "MAKEFLAGS"}
    environment = {name: value for name, value in kept.items() if not name.startswith("LLMD_GKE_")} | author
    if cache := os.environ.get("LLMD_GKE_CACHE"):
        environment["LLMD_GKE_CACHE"] = cache
    blocks = list(BLOCK.finditer((CLONE / "docs" / "tutorial.md").read_text()))
    assert len(blocks) > 8
    outputs: list[str] = []
    try:
        for block in blocks:
            done = subprocess.run(
                ["bash", "-e", "-c", block["script"]],
                cwd=clone,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=WAIT_SECONDS,
                check=False,
            )
            outputs.append(done.stdout)
            assert (done.returncode != 0) == bool(block["fails"]), f"{block['script']}\n{done.stdout}"
    finally:
        subprocess.run(
            ["make", "down"], cwd=clone, env=environment, capture_output=True, check=False, timeout=WAIT_SECONDS
        )
    first, second, _, changed, _, refused, _, comment, down = outputs
    assert "gatewayIp" in first
    assert re.search(r"^ +[-+~]+ *\d+ (?:to |created|updated)", second, re.MULTILINE) is None, second
    assert "1 to update" in changed
    assert "topology" in refused
    assert "2x2" in refused, "what is allowed"
    assert "replicas" in comment
    assert "Nothing is left" in down
