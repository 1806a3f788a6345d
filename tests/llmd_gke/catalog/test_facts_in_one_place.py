"""Versions and KServe's API versions are written in one place, and read from there."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from llmd_gke.catalog import kserve, upstream, versions

ROOT = Path(__file__).parents[3]
FOLDERS = ("benchmarks", "components", "llmd_common", "llmd_gke", "localcloud", "operations", "policies")
FILES = sorted(
    str(file.relative_to(ROOT))
    for file in (ROOT / "__main__.py", *(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")))
    if "tests" not in file.parts
)

OWNERS = {
    "llmd_gke/catalog/kserve.py": "KServe's facts, and the oldest version that works",
    "llmd_gke/catalog/front_door.py": "the front door's facts, and the oldest versions that work",
    "policies/rules/routes/routes.py": "links to a file of an older inference extension",
    "localcloud/providers/kubernetes/objects.py": "says which source the stand-in was written after",
}
"""Python files that may write versions, and why. Docs that are written by hand may, too; generated ones follow."""


@cache
def pinned() -> set[str]:
    """Every version of ``versions.toml`` with three numbers or more."""

    def texts(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for inner in value.values():  # pyright: ignore[reportUnknownVariableType] - TOML
                yield from texts(inner)  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield str(value)

    table = tomllib.loads(versions.FILE.read_text(encoding="utf-8"))
    return {version for text in texts(table) for version in re.findall(r"\d+\.\d+\.\d+(?:-[\w.-]+)?", text)}


def literals(source: str) -> Iterator[str]:
    """The texts in a program that are no docstrings."""
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value


def offences(source: str) -> list[str]:
    """Texts with a pinned version or an API version of KServe's in them; citations of KServe's own version."""
    version = re.compile(rf"(?<![\d.])v?({'|'.join(map(re.escape, sorted(pinned())))})(?![\d.])")
    written = literals(source) if version.search(source) or kserve.GROUP in source else ()
    minor = kserve.release().removeprefix("v").rpartition(".")[0]
    return [
        *(text for text in written if version.search(text) or kserve.GROUP in text),
        *re.findall(rf"(?i)kserve v?{re.escape(minor)}\b.*", source),
    ]


def test_versions_are_read_from_their_place() -> None:
    assert len(offences(f'"""KServe {kserve.release()}."""\nX = "{kserve.API_VERSION}", "{versions.gke_floor()}"')) == 3
    found = {file: offences((ROOT / file).read_text(encoding="utf-8")) for file in FILES if file not in OWNERS}
    assert {file: texts for file, texts in found.items() if texts} == {}, "see catalog/{versions.toml,kserve.py}"


def test_links_to_sources_name_the_pinned_version_and_tell_files_from_folders() -> None:
    assert kserve.source("charts") == f"https://github.com/kserve/kserve/tree/{kserve.release()}/charts"
    assert kserve.source("a/b.go") == f"https://github.com/kserve/kserve/blob/{kserve.release()}/a/b.go"
    assert set(upstream.REPOSITORIES) == set(versions.modules())
