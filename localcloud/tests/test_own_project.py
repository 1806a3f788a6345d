"""The local clouds as a project of their own: installed, they bring up the program from another folder."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import psutil
import pytest

from llmd_gke.repository import CLONE
from localcloud.common.workdir import cache_folder
from localcloud.pulumi_cli import resolve
from tests import wheels

PROGRAM = ("Pulumi.yaml", "Pulumi.local.yaml", "__main__.py", "policies", "quick_sdk", "charts")
"""The files of the program besides its components and library, which are installed."""


def test_every_package_that_is_used_is_declared() -> None:
    """The test below lends the packages of the tests' environment, whatever the project declares."""
    table = tomllib.loads((CLONE / "localcloud" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = [*table["dependencies"], *table["optional-dependencies"]["laptop"]]
    declared = {re.split(r"[=><]", one)[0] for one in requirements} | {"pulumi", "grpcio"}  # by the components
    files = [file for file in (CLONE / "localcloud").rglob("*.py") if not {"tests", "gomod"} & set(file.parts)]
    used: set[str] = set()
    for text in (file.read_text(encoding="utf-8") for file in files):
        if text.startswith("#!"):  # runs alone, in an environment of its own
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                used |= {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                used.add(node.module)
        used |= set(re.findall(r'resources\.files\("(\w+)"\)', text))
    tops = {name.replace("google.protobuf", "protobuf").partition(".")[0] for name in used}
    others = tops - sys.stdlib_module_names - {"localcloud", "llmd_common", "llmd_gke", "protobuf"}
    providers = {name: {one.lower().replace("_", "-") for one in packages_distributions()[name]} for name in others}
    assert [name for name, packages in providers.items() if not packages & declared] == []


@pytest.mark.rehearsal
def test_an_installed_local_cloud_brings_up_the_program_of_the_current_folder(tmp_path: Path) -> None:
    engine = resolve.ready(cache_folder())
    assert engine is not None, "The Pulumi engine is not set up. Run: make test-localcloud"
    folder = tmp_path / "another folder"
    folder.mkdir()
    wheels.environment(folder, "components", "policies", "localcloud")
    for name in PROGRAM:
        copy = shutil.copytree if (CLONE / name).is_dir() else shutil.copy
        copy(CLONE / name, folder / name)
    environment = wheels.ALONE | {"LLMD_GKE_CACHE": str(cache_folder()), "NO_COLOR": "1"}
    for name in ("LLMD_GKE_ROOT", "LLMD_GKE_HOME", "LLMD_GKE_CLOUD"):
        environment.pop(name, None)

    def run(*arguments: str) -> str:
        command = [str(folder / ".venv" / "bin" / "python"), "-m", "localcloud", *arguments]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert run("env").strip() == str(folder / ".rehearsal" / "env.sh")
    assert "gatewayIp" in run("up")
    assert "Nothing is left" in run("down")
    assert [one for one in psutil.process_iter(["cwd"]) if one.info["cwd"] == str(folder)] == []
