"""The pack in somebody else's project: installed into an environment of its own, with nothing of this clone there."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml
from google.protobuf import empty_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from llmd_gke.repository import CLONE
from policies import pack
from policies.groups import ALL
from tests import wheels
from tests.policies.support import request_of, resources

EXAMPLE = CLONE / "examples" / "policies-only"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the installed pack. What it depends on is lent by the environment of the tests."""
    folder = tmp_path_factory.mktemp("project")
    wheels.environment(folder, "policies")
    return folder / ".venv"


def python(environment: Path, code: str, cwd: Path) -> str:
    command = [str(environment / "bin" / "python"), "-c", code]
    return subprocess.run(command, cwd=cwd, env=wheels.ALONE, capture_output=True, text=True, check=True).stdout.strip()


def test_the_installed_pack_is_the_pure_packages_and_nothing_of_the_clone(environment: Path, tmp_path: Path) -> None:
    code = "import json, policies, llmd_gke.rules as r; print(json.dumps([policies.__file__, r.__file__]))"
    for file in json.loads(python(environment, code, tmp_path)):
        assert Path(file).is_relative_to(environment)
    code = "from importlib.util import find_spec as f; print([n for n in ('operations', 'components') if f(n)])"
    assert python(environment, code, tmp_path) == "[]"


def test_the_example_pack_serves_every_rule_with_level_schema_and_link(environment: Path, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE / "pack", tmp_path / "pack")
    command = [str(environment / "bin" / "python"), "-u", "-m", "pulumi.policy", "127.0.0.1:1", "."]
    with subprocess.Popen(
        command, cwd=tmp_path / "pack", env=wheels.ALONE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}") as channel:
                grpc.channel_ready_future(channel).result(timeout=30)
                analyzer: Any = analyzer_pb2_grpc.AnalyzerStub(channel)
                info = analyzer.GetAnalyzerInfo(empty_pb2.Empty())
                rule = next(one for one in ALL if one.name == "generated-service-target")
                refused = analyzer.Analyze(request_of(resources(rule.examples.refused[0])[0]))
                wrong = analyzer_pb2.ConfigureAnalyzerRequest()
                wrong.policyConfig["gateway-clas"].enforcementLevel = analyzer_pb2.ADVISORY
                with pytest.raises(grpc.RpcError, match=r"did you mean gateway-class\?"):
                    analyzer.Configure(wrong)
        finally:
            process.kill()
    served = {policy.name: policy for policy in info.policies}
    assert served.keys() == {rule.name for rule in ALL}
    assert info.supportsConfig
    for rule in ALL:
        level = "advisory" if rule.level == "production" else rule.level
        assert analyzer_pb2.EnforcementLevel.Name(served[rule.name].enforcementLevel).lower() == level
        assert set(served[rule.name].configSchema.properties) == {parameter.name for parameter in rule.parameters}
        assert served[rule.name].url == rule.sources[0]
    assert "generated-service-target" in {one.policyName for one in refused.diagnostics}


def test_the_installed_pack_audits_without_an_engine(environment: Path, tmp_path: Path) -> None:
    rule = next(one for one in ALL if one.name == "route-timeouts")
    (tmp_path / "route.yaml").write_text(yaml.safe_dump(rule.examples.refused[0].objects[0]))
    code = """
import sys
from importlib.metadata import entry_points
(command,) = entry_points(group="console_scripts", name="llmd-gke-audit")
sys.argv = [command.name, "route.yaml", "--output", "sarif"]
status = command.load()()
print(status, [name for name in ("pulumi", "grpc") if name in sys.modules])
"""
    answer = python(environment, code, tmp_path)
    assert answer.endswith("1 []")
    assert "route-timeouts" in answer


def test_the_pack_has_one_version_everywhere() -> None:
    files = [CLONE / "policies", EXAMPLE / "pack"]
    versions = {yaml.safe_load((folder / "PulumiPolicy.yaml").read_text())["version"] for folder in files}
    versions.add(tomllib.loads((CLONE / "policies" / "pyproject.toml").read_text())["project"]["version"])
    assert versions == {pack.VERSION}
