"""Who may import whom: no module imports a higher layer, or itself by way of others."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("llmd_common", "llmd_gke", "quick_sdk", "components", "policies", "localcloud", "operations")

LAYERS: tuple[tuple[str, ...], ...] = (
    ("llmd_common",),
    ("llmd_gke",),
    ("llmd_gke.catalog",),
    ("llmd_gke.gateways",),
    ("llmd_gke.rules",),
    ("llmd_gke.settings",),
    ("llmd_gke.manifests",),
    ("llmd_gke.graph",),
    ("quick_sdk", "components", "policies", "localcloud"),
    ("operations",),
    ("__main__",),
)
"""From the lowest up. A module imports from its own package and from lower layers."""

RESOURCES = ("pulumi_gcp", "pulumi_kubernetes")
MAKE_RESOURCES = ("components", "__main__")


def within(module: str, packages: Iterable[str]) -> str:
    """The longest of these packages that holds a module; empty if none does."""
    return max((one for one in packages if f"{module}.".startswith(f"{one}.")), key=len, default="")


@cache
def imports() -> dict[str, set[str]]:
    """Each module of the product, its operations and its local clouds, and what it imports anywhere in its code."""
    files = [ROOT / "__main__.py", *(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))]
    files = [file for file in files if not file.is_relative_to(ROOT / "localcloud" / "tests")]
    modules = {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file for file in files}
    result: dict[str, set[str]] = {}
    for module, file in modules.items():
        result[module] = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                result[module] |= {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = {f"{node.module}.{one.name}" for one in node.names}
                submodules = names & modules.keys()  # `from package import module` imports the module
                result[module] |= submodules | (set() if submodules == names else {node.module})
    return result


def test_no_module_imports_a_higher_layer() -> None:
    level = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    wrong: list[str] = []
    for module, used in imports().items():
        own = within(module, level)
        for other in used:
            imported = within(other, level)
            if imported not in ("", own) and level[imported] >= level[own]:
                wrong.append(f"{module} imports {other}")
    assert wrong == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    graphlib.TopologicalSorter({module: used - {module} for module, used in imports().items()}).prepare()


@pytest.mark.parametrize(
    ("forbidden", "outside"),
    [
        (RESOURCES, MAKE_RESOURCES),
        (
            ("pulumi", "pulumi_policy"),
            (*MAKE_RESOURCES, "quick_sdk", "policies", "llmd_gke.graph", "localcloud", "operations"),
        ),
        (("components",), ("components", "__main__")),
        (("llmd_gke",), (*(set(PACKAGES) - {"localcloud"}), "localcloud.product", "__main__")),
        (("tests", "localcloud.tests"), ()),
    ],
)
def test_only_the_program_makes_resources_and_nothing_imports_the_tests(
    forbidden: tuple[str, ...], outside: tuple[str, ...]
) -> None:
    used = [(module, other) for module, imported in imports().items() for other in imported]
    assert [one for one in used if within(one[1], forbidden) and not within(one[0], outside)] == []


def test_the_program_and_its_components_do_not_know_where_they_run() -> None:
    texts = [(ROOT / "__main__.py").read_text(), *(file.read_text() for file in (ROOT / "components").rglob("*.py"))]
    assert [text for text in texts for sign in ("rehearsal", "LLMD_GKE_", "os.environ") if sign in text] == []
