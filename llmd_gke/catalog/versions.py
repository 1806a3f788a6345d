"""Versions of everything the program installs, read from ``versions.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

FILE = Path(__file__).with_name("versions.toml")


@dataclass(frozen=True)
class Chart:
    """A Helm chart: ``home`` is its OCI address, ``version`` the chart's version as published."""

    name: str
    home: str
    version: str


@cache
def _table() -> dict[str, dict[str, object]]:
    with FILE.open("rb") as file:
        return tomllib.load(file)


def chart(name: str) -> Chart:
    """The pinned chart of that name. Raises ``KeyError`` for a chart that ``versions.toml`` does not list."""
    entry = cast("dict[str, str]", _table()["charts"][name])
    return Chart(name, home=entry["home"], version=entry["version"])


def image(name: str) -> str:
    """The pinned container image of that name, with its tag."""
    return str(_table()["images"][name])


def modules() -> dict[str, str]:
    """Go modules (path to version) whose published CRDs the tests check against."""
    return {path: str(version) for path, version in _table()["modules"].items()}


def program(name: str) -> str:
    """The version of a Go module that programs are built of, or of a program that says another one than its module.

    Raises ``KeyError`` for one that ``versions.toml`` does not list.
    """
    return str((_table()["modules"] | _table()["programs"])[name])


def gke_floor() -> str:
    """The oldest GKE control plane the program works on."""
    return str(_table()["gke"]["floor"])


def gke_default() -> str:
    """The GKE version a new cluster asks for: a minor version, so that its newest patch is taken."""
    return str(_table()["gke"]["default"])


def engine_floor() -> str:
    """The oldest Pulumi CLI the program works with."""
    return str(_table()["engine"]["floor"])


def engine_cli() -> str:
    """The Pulumi CLI that is installed or built where none is found."""
    return str(_table()["engine"]["cli"])
