"""Modules of the SDK that are imported without evaluating their annotations."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from components.postponed_annotations import LAZY
from tests.components.test_lean_types import in_new_interpreter

pytestmark = pytest.mark.skipif(sys.version_info >= LAZY, reason="this Python evaluates no annotations at import")

COMPARE = """
import importlib, inspect
from pulumi import _types
if {postponed}:
    from components.lazy_packages import package as lazy
    lazy("pulumi_gcp.container").Cluster
module = importlib.import_module("pulumi_gcp.container.{module}")
assert (type(module.__spec__.loader).__name__ == "PostponedLoader") is {postponed}
for name in module.__all__:
    if name.endswith("Dict"):
        continue
    cls = getattr(module, name)
    kind = _types.is_input_type(cls), _types.is_output_type(cls)
    parameters = inspect.signature(cls.__init__).parameters.values()
    print(name, kind, [(one.name, one.kind, one.default) for one in parameters])
    print(_types.{types}(cls) if kind[{kind}] else "")
"""


@pytest.mark.parametrize(
    ("module", "types", "kind"), [("_inputs", "input_type_types", 0), ("outputs", "output_type_types", 1)]
)
def test_pulumi_reads_the_same_types_from_postponed_annotations(module: str, types: str, kind: int) -> None:
    code = COMPARE.format(module=module, types=types, kind=kind, postponed="{postponed}")
    postponed = in_new_interpreter(code.format(postponed=True))
    assert postponed.count("pulumi_gcp.container") > 100
    assert in_new_interpreter(code.format(postponed=False)) == postponed


def test_a_resource_has_the_same_types_with_postponed_annotations() -> None:
    code = """
import pulumi_gcp, sys
from pulumi import _types
if {postponed}:
    from components.lazy_packages import package as lazy
    lazy("pulumi_gcp.container")
from pulumi_gcp.container import Cluster
loader = type(sys.modules["pulumi_gcp.container.cluster"].__spec__.loader).__name__
assert (loader == "PostponedLoader") is {postponed}, loader
print(sorted(_types.resource_types(Cluster).items()))
import pulumi_gcp.container.cluster
assert pulumi_gcp.container.cluster.Cluster is Cluster
"""
    postponed = in_new_interpreter(code.format(postponed=True))
    assert "ClusterNodeConfig" in postponed
    assert in_new_interpreter(code.format(postponed=False)) == postponed


def importing(folder: Path, **environ: str) -> str:
    """The loader and the annotation of a module in a package of its own, printed by a new interpreter."""
    code = (
        "from components.postponed_annotations import imported; module = imported('made.types'); "
        "print(type(module.__spec__.loader).__name__, module.f.__annotations__)"
    )
    root = str(Path(__file__).resolve().parents[2])
    environ = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{folder}", "PYTHONDONTWRITEBYTECODE": "", **environ}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder with a package that has one module."""
    package = tmp_path / "made"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "types.py").write_text("def f(x: int) -> None: ...\n")
    return tmp_path


def test_bytecode_is_kept_apart_from_pythons_own_and_follows_its_source(made: Path) -> None:
    assert importing(made) == "PostponedLoader {'x': 'int', 'return': 'None'}"
    names = [file.name.split(".", 1)[1] for file in (made / "made/__pycache__").glob("types.*")]
    assert names == [f"{sys.implementation.cache_tag}.postponed.pyc"]
    assert importing(made) == "PostponedLoader {'x': 'int', 'return': 'None'}"
    (made / "made/types.py").write_text("def f(longer: str) -> None: ...\n")
    assert importing(made) == "PostponedLoader {'longer': 'str', 'return': 'None'}"


def test_without_a_way_to_store_bytecode_a_module_is_imported_in_the_ordinary_way(made: Path) -> None:
    assert importing(made, PYTHONDONTWRITEBYTECODE="1") == "SourceFileLoader {'x': <class 'int'>, 'return': None}"
    importing(made)
    assert importing(made, PYTHONDONTWRITEBYTECODE="1").startswith("PostponedLoader"), "it was stored before"
    newer = time.time() + 60
    os.utime(made / "made/types.py", (newer, newer))
    assert importing(made, PYTHONDONTWRITEBYTECODE="1").startswith("SourceFileLoader"), "it is older than its source"
