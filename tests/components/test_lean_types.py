"""Argument classes that are created one by one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def in_new_interpreter(code: str) -> str:
    """What a script prints: modules of the SDK can be imported in one way only in each interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "", "LLMD_GKE_CLOUD": "rehearsal"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


IN_FULL = """
import pulumi_gcp.compute, pulumi_gcp.container, pulumi_gcp.monitoring, pulumi_gcp.projects, pulumi_kubernetes.core.v1
pulumi_gcp.compute.Network, pulumi_gcp.container.Cluster, pulumi_gcp.monitoring.AlertPolicy, pulumi_gcp.projects.Service
pulumi_kubernetes.core.v1.Pod
from components.lazy_packages import LeanPackage
packages = pulumi_gcp.compute, pulumi_gcp.container, pulumi_gcp.monitoring, pulumi_gcp.projects
assert not any(isinstance(one, LeanPackage) for one in packages)
"""
RECORD = """
from pathlib import Path
from llmd_gke.graph.recording import load
graph = load(Path.cwd(), {stack!r})
for urn, node in sorted(graph.nodes.items()):
    print(urn, sorted(node.depends_on), sorted(node.inputs.items()), node.ignore_changes)
print(sorted(graph.outputs.items()))
"""


def test_the_program_registers_the_same_with_all_classes_and_with_those_it_needs() -> None:
    code = RECORD.format(stack="door")
    lean = in_new_interpreter(code)
    assert lean.count("urn:pulumi:") > 100
    assert in_new_interpreter(IN_FULL + code) == lean


COMPARE = """
import importlib, inspect
from pulumi import _types
from components.lean_types import LeanTypes
package = {package!r}
if {lean}:
    from components.lazy_packages import package as lazy
    lazy(package, many_types=True)
for name in ("_inputs", "outputs"):
    module = importlib.import_module(f"{{package}}.{{name}}")
    assert isinstance(module, LeanTypes) is {lean}
    names = [one for one in module.__all__ if not one.endswith("Dict")]
    for one in names[::{every}]:
        cls = getattr(module, one)
        kind = _types.is_input_type(cls), _types.is_output_type(cls)
        print(one, kind, inspect.signature(cls.__init__), [member for member in vars(cls) if member[:2] != "__"])
"""


@pytest.mark.parametrize(
    ("package", "every"), [("pulumi_gcp.compute", 7), ("pulumi_gcp.monitoring", 1), ("pulumi_kubernetes.core.v1", 7)]
)
def test_a_class_created_alone_is_the_same_as_one_created_with_all(package: str, every: int) -> None:
    lean = in_new_interpreter(COMPARE.format(package=package, every=every, lean=True))
    assert lean.count("\n") > 100
    assert in_new_interpreter(COMPARE.format(package=package, every=every, lean=False)) == lean


def test_only_classes_that_are_needed_are_created() -> None:
    code = """
import json, sys
from components.lazy_sdk import compute
compute.Network, compute.RouterNat, compute.RouterNatLogConfigArgs
inputs = sys.modules["pulumi_gcp.compute._inputs"]
print(json.dumps([name for name, value in vars(inputs).items() if isinstance(value, type)]))
"""
    created = json.loads(in_new_interpreter(code))
    assert "RouterNatLogConfigArgs" in created
    assert len(created) < 30


def test_a_name_that_the_package_does_not_have_is_an_attribute_error() -> None:
    code = """
from components.lazy_sdk import compute
try:
    compute.NetworkOfNoneArgs
except AttributeError as error:
    print(error)
"""
    assert "has no NetworkOfNoneArgs" in in_new_interpreter(code)


def test_a_star_import_of_another_program_gets_every_class() -> None:
    code = """
from components.lazy_sdk import compute
compute.Network
del __import__("sys").modules["pulumi_gcp.compute._inputs"].__dict__["__all__"]
from pulumi_gcp.compute._inputs import *
print(AutoscalerAutoscalingPolicyArgs.__name__, URLMapTestArgs.__name__)
"""
    assert "AutoscalerAutoscalingPolicyArgs URLMapTestArgs" in in_new_interpreter(code)
