"""Who may import whom: every folder of the tree has its place, and no arrow goes up."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FLOORS: tuple[tuple[str, ...], ...] = (
    ("llmd_gke",),  # problems, redaction, where the repository is: what every room shares
    ("llmd_gke/catalog/accelerators", "llmd_gke/catalog"),
    ("llmd_gke/gateways",),
    ("llmd_gke/rules",),
    ("llmd_gke/settings/sections", "llmd_gke/settings/validation", "llmd_gke/settings"),
    ("llmd_gke/manifests",),
    ("llmd_gke/manifests/alerts", "llmd_gke/manifests/dashboard", "llmd_gke/manifests/front_door"),
    ("llmd_gke/manifests/monitoring",),
    ("llmd_gke/graph",),
    ("components", "policies", "policies/rules", "localcloud", "operations"),
    ("__main__",),
)
"""From the ground up. A folder uses its own floor by :data:`WITHIN` only, and never a higher one."""

WITHIN: dict[str, tuple[str, ...]] = {
    "llmd_gke/catalog": ("llmd_gke/catalog/accelerators",),
    "llmd_gke/settings/validation": ("llmd_gke/settings/sections",),
    "llmd_gke/settings": ("llmd_gke/settings/sections", "llmd_gke/settings/validation"),
    "policies": ("policies/rules",),
    "operations": ("localcloud", "policies"),  # the comment judges a graph by the pack
}
"""Arrows inside a floor. ``localcloud`` and ``operations`` mean everything below them."""

PURE = ("llmd_gke/catalog", "llmd_gke/gateways", "llmd_gke/rules", "llmd_gke/settings", "llmd_gke/manifests")
PACKAGES = ("llmd_gke", "components", "policies", "localcloud", "operations")


def sources() -> Iterator[Path]:
    """Every Python file of the product, its operations and its local clouds."""
    yield ROOT / "__main__.py"
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def folder_of(file: Path) -> str:
    relative = file.relative_to(ROOT)
    return relative.stem if len(relative.parts) == 1 else str(relative.parent)


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


def target(module: str) -> str | None:
    """The folder of a module of ours; ``None`` for anything else, and for what is a name in a module."""
    path = ROOT.joinpath(*module.split("."))
    if path.with_suffix(".py").is_file():
        return folder_of(path.with_suffix(".py"))
    return str(path.relative_to(ROOT)) if (path / "__init__.py").is_file() else None


def targets(source: str) -> set[str]:
    """The folders of ours that a source text imports from.

    `from package import module` is an arrow to the module's folder, not to the package's.
    """
    result: set[str] = set()
    names = list(imports(source))
    for name in names:
        module = target(name)
        if module and not any(other.startswith(f"{name}.") and target(other) for other in names):
            result.add(module)
    return result


@cache
def arrows() -> Mapping[str, Mapping[str, list[str]]]:
    """Folder to the folders it uses, each with the files that do."""
    result: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for file in sources():
        folder = folder_of(file)
        for other in targets(file.read_text()) - {folder}:
            result[folder][other].append(str(file.relative_to(ROOT)))
    return result


def floor(folder: str) -> tuple[int, str]:
    """The floor of a folder, and the name under which it is listed there."""
    for number, names in enumerate(FLOORS):
        if folder in names:
            return number, folder
    for name in ("localcloud", "operations"):
        if folder.startswith(f"{name}/"):
            return floor(name)
    raise AssertionError(f"{folder} has no floor: add it to FLOORS")


def circles(graph: Mapping[str, Collection[str]]) -> list[list[str]]:
    """Folders that use each other, directly or by way of others."""

    def reached(start: str) -> set[str]:
        result: set[str] = set()
        todo = list(graph.get(start, ()))
        while todo:
            if (one := todo.pop()) not in result:
                result.add(one)
                todo += graph.get(one, ())
        return result

    reach = {folder: reached(folder) for folder in graph}
    return sorted(
        [one, other] for one in graph for other in reach[one] if one < other and one in reach.get(other, set())
    )


def test_every_folder_has_a_floor() -> None:
    folders = {folder_of(file) for file in sources()}
    assert len(folders) > 30
    assert all(floor(folder) for folder in folders)


def test_no_folder_is_in_a_circle() -> None:
    imported = arrows()
    assert len(imported) > 30
    assert circles(imported) == []


def test_no_module_is_in_a_circle() -> None:
    files = list(sources())
    of_module = {
        str(file.relative_to(ROOT).with_suffix("")).replace("/", ".").removesuffix(".__init__"): file for file in files
    }
    graph: dict[str, list[str]] = {}
    for module, file in of_module.items():
        used = set(imports(file.read_text())) & set(of_module) - {module}
        # `from package import module` is an arrow to the module alone.
        alone = (one for one in used if not any(other.startswith(f"{one}.") for other in used))
        graph[module] = list(alone)
    assert len(graph) > 300
    assert circles(graph) == []


def test_no_arrow_goes_up_or_sideways() -> None:
    wrong: dict[tuple[str, str], list[str]] = {}
    for folder, used in arrows().items():
        here, own = floor(folder)
        for other, files in used.items():
            there, name = floor(other)
            if there > here or (there == here and own != name and name not in WITHIN.get(own, ())):
                wrong[folder, other] = files
    assert wrong == {}


def test_the_pack_uses_the_rules_and_nothing_that_knows_a_cloud() -> None:
    used = {other for folder, others in arrows().items() if folder.startswith("policies") for other in others}
    assert used
    assert {other for other in used if other.split("/")[0] not in ("llmd_gke", "policies")} == set()


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


@pytest.mark.parametrize("layer", PURE)
def test_pure_layers_import_nothing_of_pulumi(layer: str) -> None:
    files = sorted((ROOT / layer).rglob("*.py"))
    assert files
    result = {
        str(file.relative_to(ROOT)): [module for module in imports(file.read_text()) if module.startswith("pulumi")]
        for file in files
    }
    assert {file: modules for file, modules in result.items() if modules} == {}


def test_nothing_imports_the_tests() -> None:
    result = {str(file): [m for m in imports(file.read_text()) if within(m, "tests")] for file in sources()}
    assert len(result) > 300
    assert {file: modules for file, modules in result.items() if modules} == {}


def test_only_components_and_the_program_import_resource_packages() -> None:
    packages = ("pulumi_gcp", "pulumi_kubernetes")
    allowed = ("components", "__main__", "localcloud/providers/google")  # the last reads the SDK's types
    result = {
        str(file.relative_to(ROOT))
        for file in sources()
        if folder_of(file) not in allowed
        for module in imports(file.read_text())
        if any(within(module, package) for package in packages)
    }
    assert result == set()


def test_the_program_and_its_components_do_not_know_where_they_run() -> None:
    files = [ROOT / "__main__.py", *sorted((ROOT / "components").rglob("*.py"))]
    assert len(files) > 10
    texts = {file.name: file.read_text() for file in files}
    signs = ("rehearsal", "LLMD_GKE_", "stand-in", "standin", "os.environ")
    assert {(name, sign) for name, text in texts.items() for sign in signs if sign in text} == set()


def test_only_the_table_of_backends_asks_which_local_cloud_it_is() -> None:
    """The workflow knows a backend by its methods; folders and messages depend on the traits beside the kinds."""
    files = sorted((ROOT / "localcloud").rglob("*.py"))
    assert files
    asked = {
        str(file.relative_to(ROOT))
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Attribute)
        and node.left.attr == "kind"
        and any(isinstance(one, ast.Constant) and one.value in ("laptop", "rehearsal") for one in node.comparators)
    }
    assert asked == set()


def test_an_import_against_the_direction_is_noticed_wherever_it_is() -> None:
    assert targets("from llmd_gke import settings") == {"llmd_gke/settings"}
    assert targets("def f():\n    import components.cluster\n") == {"components"}
    assert targets("from localcloud.workflow import state") == {"localcloud/workflow"}
    assert targets("import json") == set()


def test_a_circle_is_noticed_over_any_number_of_folders() -> None:
    assert circles({"a": {"b": 1}, "b": {"c": 1}, "c": {"a": 1}}) == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert circles({"a": {"b": 1}, "b": {"c": 1}}) == []
