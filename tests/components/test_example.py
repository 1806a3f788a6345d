"""`TpuPool` and `Model` in somebody else's program: installed, on a cluster that was made elsewhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
import yaml

from llmd_gke.graph.recording import Graph, record
from llmd_gke.repository import CLONE
from tests.components import kinds
from tests.components.kinds import metadata

EXAMPLE = CLONE / "examples" / "tpu-pool-and-model"
PROJECT = "tpu-pool-and-model"
CONFIG = {
    f"{PROJECT}:{key}": value
    for key, value in {
        "project": "my-project",
        "cluster": "theirs",
        "location": "europe-west4",
        "zone": "europe-west4-a",
        "nodeServiceAccount": "nodes@my-project.iam.gserviceaccount.com",
        "proxies": "10.9.0.0/23",
        "gatewayIp": "203.0.113.7",
    }.items()
}
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
RECORD = """
import json, sys
from pathlib import Path
import components
from llmd_gke.graph.recording import record
graph = record(Path.cwd(), "dev", json.loads(sys.argv[1]), project=sys.argv[2])
print(json.dumps([components.__file__, sorted(node.type for node in graph.nodes.values())]))
"""


@pytest.fixture(scope="module")
def graph() -> Graph:
    return record(EXAMPLE, "dev", CONFIG, preview=False, project=PROJECT)


def test_the_pool_goes_into_the_cluster_that_is_there(graph: Graph) -> None:
    pool = graph.find(kinds.NODE_POOL)
    assert (pool.inputs["cluster"], pool.inputs["location"]) == ("theirs", "europe-west4")
    assert pool.inputs["nodeLocations"] == ["europe-west4-a"]
    assert not [node for node in graph.nodes.values() if node.type.startswith(("gcp:container/cluster", "gcp:compute"))]


def test_the_model_comes_after_pool_and_namespace(graph: Graph) -> None:
    service = graph.find(kinds.SERVICE)
    assert graph.comes_before(graph.find(kinds.NODE_POOL), service)
    assert graph.comes_before(graph.find(kinds.NAMESPACE), service)
    assert graph.outputs["endpoint"] == {
        "url": "http://203.0.113.7/models/qwen",
        "servedModelName": "qwen",
        "namespace": metadata(graph.find(kinds.SERVICE), "namespace"),
    }


def test_the_readme_sets_every_key_that_the_program_requires() -> None:
    program = (EXAMPLE / "__main__.py").read_text(encoding="utf-8")
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    required = set(re.findall(r'config\.require\("(\w+)"\)', program))
    assert required == {key.partition(":")[2] for key in CONFIG}
    assert set(re.findall(r"pulumi config set (\w+) ", readme)) == required
    assert yaml.safe_load((EXAMPLE / "Pulumi.yaml").read_text(encoding="utf-8"))["name"] == PROJECT


def test_every_package_that_components_import_is_installed_with_them() -> None:
    listed = tomllib.loads((CLONE / "components" / "pyproject.toml").read_text(encoding="utf-8"))
    folders = {str(file.parent.relative_to(CLONE)) for file in (CLONE / "llmd_gke").rglob("*.py")}
    assert set(listed["tool"]["setuptools"]["packages"]) == {"components", *(f.replace("/", ".") for f in folders)}


def test_the_example_runs_with_the_installed_components_and_nothing_of_the_clone(tmp_path: Path) -> None:
    source, wheels, project = tmp_path / "source", tmp_path / "wheels", tmp_path / "project"
    for name in ("components", "llmd_gke"):
        shutil.copytree(CLONE / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "build"))
    wheels.mkdir()
    command = [sys.executable, "-P", "-c", BUILD, str(wheels)]  # -P: `platform.py` is not the one of Python
    done = subprocess.run(command, cwd=source / "components", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shutil.copytree(EXAMPLE, project)
    venv.EnvBuilder(with_pip=False, symlinks=True).create(project / ".venv")
    packages = next((project / ".venv").glob("lib/python3.*/site-packages"))
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(packages)
    # Folders named in a .pth file are searched, their own .pth files are not read: the clone stays out.
    (packages / "lent.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    run = [str(project / ".venv" / "bin" / "python"), "-c", RECORD, json.dumps(CONFIG), PROJECT]
    output = subprocess.run(run, cwd=project, env=alone, capture_output=True, text=True, check=False)
    assert output.returncode == 0, output.stderr
    where, types = json.loads(output.stdout)
    assert Path(where).is_relative_to(packages)
    assert {"llmd-gke:pools:TpuPool", "llmd-gke:models:Model", kinds.SERVICE} <= set(types)
