"""The program with quick imports, and without the line that switches them on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUICK = "import quick_sdk; quick_sdk.switch_on()\n"
WITHOUT = "import quick_sdk; quick_sdk.switch_on = lambda: None\n"
RECORD = """
import sys
from pathlib import Path
from llmd_gke.graph.recording import load
graph = load(Path.cwd(), "dev")
print("pulumi_gcp.compute.autoscaler" in sys.modules)
for urn, node in sorted(graph.nodes.items()):
    print(urn, sorted(node.depends_on), sorted(node.inputs.items()), node.ignore_changes)
print(sorted(graph.outputs.items()))
"""


def in_new_interpreter(code: str, **environ: str) -> str:
    """What a script prints: a module of the SDK can be imported in one way only in each interpreter."""
    ours = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "", "LLMD_GKE_CLOUD": "rehearsal"}
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **ours, **environ}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


TYPES = """
from pulumi import _types
from pulumi_gcp.container import Cluster, ClusterArgs
from pulumi_kubernetes.core.v1 import PodArgs, Pod
for types in _types.resource_types(Cluster), _types.resource_types(Pod), _types.input_type_types(ClusterArgs):
    print(sorted(types.items(), key=lambda item: item[0]))
"""
OTHER_NAMES = """
from pulumi_gcp import compute
try: compute.NetworkOfNoneArgs
except AttributeError as error: print(error)
from pulumi_gcp.compute import *
from pulumi_kubernetes.core.v1 import ServiceSpecType
print(URLMapTestArgs.__name__, ServiceSpecType.__name__)
"""
"""A misspelt name, all names at once, and a name in a module of another name: the whole package answers for them."""


def test_the_program_registers_the_same_with_and_without_quick_imports() -> None:
    unused, _, ours = in_new_interpreter(RECORD + TYPES + OTHER_NAMES).partition("\n")
    everything, _, usual = in_new_interpreter(WITHOUT + RECORD + TYPES + OTHER_NAMES).partition("\n")
    assert (unused, everything) == ("False", "True"), "whether a module that the program does not use was imported"
    assert ours.count("urn:pulumi:") > 100
    assert "ClusterNodeConfig" in ours
    assert ours.endswith("URLMapTestArgs ServiceSpecType\n")
    assert ours == usual


@pytest.fixture
def sdk(tmp_path: Path) -> Path:
    """A folder with an SDK that has one package with one module, and its folder of bytecode."""
    package = tmp_path / "pulumi_gcp" / "made"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    (package / "__init__.py").write_text("from .types import *\n")
    (package / "types.py").write_text("__all__ = ['types']\ndef types(x: int) -> None: ...\n")
    return tmp_path


def evaluated_types(sdk: Path, **environ: str) -> str:
    """The annotations of the SDK's function, printed by a new interpreter."""
    code = "from pulumi_gcp.made import types; print(types.__annotations__)"
    path = f"import sys; sys.path.insert(0, {str(sdk)!r})\n"
    return in_new_interpreter(QUICK + path + code, **environ).strip()


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python evaluates no annotations at import")
def test_bytecode_is_kept_apart_from_pythons_own_and_follows_its_source(sdk: Path) -> None:
    evaluated, postponed = "{'x': <class 'int'>, 'return': None}", "{'x': 'int', 'return': 'None'}"
    assert evaluated_types(sdk, PYTHONDONTWRITEBYTECODE="1") == evaluated, "nothing to store it, so it is not compiled"
    assert evaluated_types(sdk) == postponed
    names = [file.name.split(".", 1)[1] for file in (sdk / "pulumi_gcp/made/__pycache__").glob("types.*")]
    assert names == [f"{sys.implementation.cache_tag}.postponed.pyc"]
    assert evaluated_types(sdk, PYTHONDONTWRITEBYTECODE="1") == postponed, "it was stored before"
    (sdk / "pulumi_gcp/made/types.py").write_text("__all__ = ['types']\ndef types(longer: str) -> None: ...\n")
    assert evaluated_types(sdk) == "{'longer': 'str', 'return': 'None'}"
