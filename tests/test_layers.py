"""Who may import whom: catalog, checks, settings, manifests, components, program, in this direction only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = ("llmd_gke.catalog", "llmd_gke.rules", "llmd_gke.settings", "llmd_gke.manifests", "components", "__main__")
PURE = LAYERS[:4]


def files(layer: str) -> list[Path]:
    place = ROOT.joinpath(*layer.split("."))
    return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def imports(source: str) -> Iterator[str]:
    """The modules a source text imports, wherever in it: `from a import b` gives `a` and `a.b`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def against_the_direction(layer: str, source: str) -> list[str]:
    above = LAYERS[LAYERS.index(layer) + 1 :]
    return [module for module in imports(source) if any(within(module, higher) for higher in above)]


@pytest.mark.parametrize("layer", LAYERS)
def test_every_layer_has_files(layer: str) -> None:
    assert [file for file in files(layer) if file.is_file()]


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_go_in_one_direction(layer: str) -> None:
    found = {str(file.relative_to(ROOT)): against_the_direction(layer, file.read_text()) for file in files(layer)}
    assert {file: modules for file, modules in found.items() if modules} == {}


@pytest.mark.parametrize("layer", PURE)
def test_pure_layers_import_nothing_of_pulumi(layer: str) -> None:
    found = {
        str(file.relative_to(ROOT)): [module for module in imports(file.read_text()) if module.startswith("pulumi")]
        for file in files(layer)
    }
    assert {file: modules for file, modules in found.items() if modules} == {}


@pytest.mark.parametrize("layer", LAYERS)
def test_the_product_uses_nothing_of_the_laptop_the_graph_or_the_operations(layer: str) -> None:
    strangers = ("localcloud", "llmd_gke.graph", "operations", "tests")
    found = {
        str(file.relative_to(ROOT)): [m for m in imports(file.read_text()) if any(within(m, s) for s in strangers)]
        for file in files(layer)
    }
    assert {file: modules for file, modules in found.items() if modules} == {}


@pytest.mark.parametrize(
    ("room", "strangers"),
    [
        ("llmd_gke.graph", ("localcloud", "operations", "tests")),
        ("localcloud", ("llmd_gke.graph", "operations", "tests")),
        ("operations", ("tests",)),
    ],
)
def test_the_graph_stands_alone_and_only_the_operations_use_the_laptop(room: str, strangers: tuple[str, ...]) -> None:
    assert files(room)
    found = {
        str(file.relative_to(ROOT)): [m for m in imports(file.read_text()) if any(within(m, s) for s in strangers)]
        for file in files(room)
    }
    assert {file: modules for file, modules in found.items() if modules} == {}


def test_only_components_and_the_program_import_resource_packages() -> None:
    packages = ("pulumi_gcp", "pulumi_kubernetes")
    found = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "llmd_gke").rglob("*.py")
        if not file.is_relative_to(ROOT / "llmd_gke" / "laptop")
        for module in imports(file.read_text())
        if any(within(module, package) for package in packages)
    }
    assert found == set()


def test_the_program_and_its_components_do_not_know_where_they_run() -> None:
    texts = {file.name: file.read_text() for layer in ("components", "__main__") for file in files(layer)}
    signs = ("rehearsal", "LLMD_GKE_", "stand-in", "standin", "os.environ")
    assert {(name, sign) for name, text in texts.items() for sign in signs if sign in text} == set()


def test_an_import_against_the_direction_is_noticed_wherever_it_stands() -> None:
    assert against_the_direction("llmd_gke.catalog", "from llmd_gke import settings") == ["llmd_gke.settings"]
    hidden = "def f():\n    import components.cluster\n"
    assert against_the_direction("llmd_gke.manifests", hidden) == ["components.cluster"]
    assert against_the_direction("components", "from llmd_gke.catalog import tpu") == []
