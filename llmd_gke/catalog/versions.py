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
    """A Helm chart: ``home`` is where it is published, an OCI address unless it is an archive, ``version`` the chart's
    version as published.

    ``digest``: that of the version, if it was recorded.
    """

    name: str
    home: str
    version: str
    digest: str | None = None


@dataclass(frozen=True)
class Image:
    """A container image: ``home`` is registry and repository. ``digest``: that of the tag, if it was recorded."""

    name: str
    home: str
    tag: str
    digest: str | None = None

    @property
    def reference(self) -> str:
        """The reference to pull it by: ``HOME:TAG`` or ``HOME:TAG@DIGEST``. With a digest, the tag is informative only
        (https://github.com/distribution/reference).
        """
        return f"{self.home}:{self.tag}" + (f"@{self.digest}" if self.digest else "")


@cache
def _table() -> dict[str, dict[str, object]]:
    with FILE.open("rb") as file:
        return tomllib.load(file)


def chart(name: str) -> Chart:
    """The pinned chart of that name. Raises ``KeyError`` for a chart that ``versions.toml`` does not list."""
    entry = cast("dict[str, str]", _table()["charts"][name])
    return Chart(name, home=entry["home"], version=entry["version"], digest=entry.get("digest"))


def charts() -> tuple[Chart, ...]:
    """Every pinned chart."""
    return tuple(chart(name) for name in _table()["charts"])


def archive(name: str) -> Chart:
    """The pinned chart of that name that is published as an archive only; ``home`` is its address.

    Raises ``KeyError`` for a chart that ``versions.toml`` does not list.
    """
    entry = cast("dict[str, str]", _table()["archives"][name])
    return Chart(name, home=f"{entry['home']}/{name}-{entry['version']}.tgz", version=entry["version"])


def pinned_image(name: str) -> Image:
    """The pinned container image of that name. Raises ``KeyError`` for one that ``versions.toml`` does not list."""
    entry = cast("dict[str, str]", _table()["images"][name])
    return Image(name, home=entry["home"], tag=entry["tag"], digest=entry.get("digest"))


def images() -> tuple[Image, ...]:
    """Every pinned container image."""
    return tuple(pinned_image(name) for name in _table()["images"])


def image(name: str) -> str:
    """The pinned container image of that name, with its tag, and its digest if that was recorded."""
    return pinned_image(name).reference


def modules() -> dict[str, str]:
    """Go modules (path to version) whose published CRDs the tests check against."""
    return {path: str(version) for path, version in _table()["modules"].items()}


def program(name: str) -> str:
    """The pinned version of a Go module, or of a program whose version differs from its module's.

    Raises ``KeyError`` for one that ``versions.toml`` does not list.
    """
    return str((_table()["modules"] | _table()["programs"])[name])


def gke_floor() -> str:
    """The oldest GKE control plane the program works on."""
    return str(_table()["gke"]["floor"])


def gke_default() -> str:
    """The GKE version of a new cluster: a minor version, so that GKE chooses its newest patch."""
    return str(_table()["gke"]["default"])


def gke_autoscaling_metric() -> str:
    """The oldest GKE control plane with the managed adapter of metrics, generally available."""
    return str(_table()["gke"]["autoscaling_metric"])


def gke_buffered_read() -> str:
    """The oldest GKE control plane whose Cloud Storage FUSE fetches ahead what is read in sequence."""
    return str(_table()["gke"]["buffered_read"])


def engine_floor() -> str:
    """The oldest Pulumi CLI the program works with."""
    return str(_table()["engine"]["floor"])


def engine_cli() -> str:
    """The version of the Pulumi CLI that is installed or built if none is found."""
    return str(_table()["engine"]["cli"])
