"""Components in somebody else's program: installed, on a cluster that was made elsewhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import pytest
import yaml

from llmd_common.pulumi_signatures import is_secret
from llmd_gke.graph.recording import Graph, record
from llmd_gke.repository import CLONE
from tests.components import kinds
from tests.components.front_door.support import ROUTE
from tests.wheels import ALONE, PACKAGES, environment

EXAMPLES = CLONE / "examples"
THERE = {"cluster": "theirs", "project": "my-project", "proxies": "10.9.0.0/23", "gatewayIp": "203.0.113.7"}
SECRET = "a-secret-of-somebody-elses-program"
PROGRAMS: dict[str, dict[str, str]] = {
    "model": {**THERE, "huggingFaceToken": SECRET},
    "front-door": {**THERE, "region": "europe-west4", "teamAKey": SECRET},
}
"""The programs in somebody else's project, and their configuration."""
RECORD = """
import json, sys
from pathlib import Path
import components
from llmd_gke.graph.recording import record
for name, config in json.loads(sys.argv[1]).items():
    graph = record(Path.cwd() / name, "dev", config, project=name)
    print(json.dumps([components.__file__, sorted(node.type for node in graph.nodes.values())]))
"""


def config(name: str) -> dict[str, str]:
    return {f"{name}:{key}": value for key, value in PROGRAMS[name].items()}


@cache
def recorded(name: str) -> Graph:
    secrets = tuple(key for key, value in config(name).items() if value == SECRET)
    return record(EXAMPLES / name, "dev", config(name), secrets, preview=False, project=name)


@pytest.mark.parametrize(
    ("name", "secret", "entry"),
    [("model", "models-hugging-face-token", "HF_TOKEN"), ("front-door", "front-door-keys", "team-a")],
)
def test_a_secret_of_the_program_goes_into_the_cluster_and_nowhere_else(name: str, secret: str, entry: str) -> None:
    graph = recorded(name)
    data = graph.find(kinds.SECRET, secret).inputs["stringData"]
    assert is_secret(data) or (isinstance(data, dict) and is_secret(data[entry]))
    holding = [node.name for node in graph.nodes.values() if SECRET in str(node.inputs)]
    assert holding == [secret]


def test_the_route_of_a_model_comes_after_the_front_door() -> None:
    graph = recorded("front-door")
    assert graph.comes_before(graph.find("llmd-gke:front-door:FrontDoor"), graph.find(ROUTE))
    assert graph.outputs["baseUrl"] == "http://203.0.113.7/v1"


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_readme_sets_every_key_that_the_program_requires(name: str) -> None:
    program = (EXAMPLES / name / "__main__.py").read_text(encoding="utf-8")
    readme = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    required = set(re.findall(r'config\.require(?:_secret)?\("(\w+)"\)', program))
    assert required == PROGRAMS[name].keys()
    assert set(re.findall(r"pulumi config set (?:--secret )?(\w+)", readme)) == required
    assert yaml.safe_load((EXAMPLES / name / "Pulumi.yaml").read_text(encoding="utf-8"))["name"] == name


def test_every_package_that_components_import_is_installed_with_them() -> None:
    listed = tomllib.loads((CLONE / "components" / "pyproject.toml").read_text(encoding="utf-8"))
    files = [file for package in PACKAGES for file in (CLONE / package).rglob("*.py")]
    packages = {".".join(file.parent.relative_to(CLONE).parts) for file in files}
    assert set(listed["tool"]["setuptools"]["packages"]) == {"components", *packages}


def test_the_examples_run_with_the_installed_components_and_nothing_of_the_clone(tmp_path: Path) -> None:
    packages = environment(tmp_path, "components")
    for name in PROGRAMS:
        shutil.copytree(EXAMPLES / name, tmp_path / name)
    run = [str(tmp_path / ".venv/bin/python"), "-c", RECORD, json.dumps({name: config(name) for name in PROGRAMS})]
    output = subprocess.run(run, cwd=tmp_path, env=ALONE, capture_output=True, text=True, check=False)
    assert output.returncode == 0, output.stderr
    for line in output.stdout.splitlines():
        where, types = json.loads(line)
        assert Path(where).is_relative_to(packages)
        assert {"llmd-gke:models:Model", kinds.SERVICE} <= set(types)
    assert len(output.stdout.splitlines()) == len(PROGRAMS)
