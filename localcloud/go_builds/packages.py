"""The packages of a program, each with a weight for the displayed progress."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

FIELDS = "ImportPath,Name,Dir,GoFiles,Standard"
"""What ``go list -json=`` has to print for ``read``."""

PER_PACKAGE = 20_000
"""Starting a compiler costs as much as compiling that many bytes."""


@dataclass(frozen=True)
class Packages:
    """``weights``: every package to compile (bytes of source).

    ``standard``: those of the standard library. ``libraries``: all others except commands and ``internal`` packages,
    which cannot be named and are compiled with the packages that import them.
    """

    weights: dict[str, float]
    standard: list[str]
    libraries: list[str]


def read(output: str) -> Packages:
    """The packages that ``go list -deps -json`` printed."""
    weights: dict[str, float] = {}
    standard: list[str] = []
    libraries: list[str] = []
    for package in _documents(output):
        name, folder = str(package["ImportPath"]), Path(str(package["Dir"]))
        if name == "unsafe":
            continue
        size = 0
        for file in cast("list[str]", package.get("GoFiles") or []):
            with contextlib.suppress(OSError):  # generated files have no source on disk
                size += (folder / file).stat().st_size
        weights[name] = PER_PACKAGE + size
        if {"vendor", "internal"}.isdisjoint(name.split("/")) and package["Name"] != "main":
            (standard if package.get("Standard") else libraries).append(name)
    return Packages(weights, standard, libraries)


def _documents(text: str) -> Iterator[dict[str, object]]:
    """The JSON objects that `go list -json` prints one after the other."""
    decoder, at = json.JSONDecoder(), 0
    while (at := _skip_space(text, at)) < len(text):
        value, at = cast("tuple[dict[str, object], int]", decoder.raw_decode(text, at))
        yield value


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
