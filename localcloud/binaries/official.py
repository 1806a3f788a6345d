"""Finds official programs that are installed already: on PATH, or in Pulumi's plugin cache."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

from llmd_common import child_process
from localcloud.binaries.table import PROVIDER_NAME
from localcloud.go_builds.wrapper import BuiltProgram

ANSWER_SECONDS = 20.0
MARK = b"localcloud"
"""Every script that a local cloud puts on a shell's PATH or into its plugin cache contains this."""


def numbers(text: str) -> tuple[int, ...]:
    """The first version in a text, as in ``Kubernetes v1.36.3``; empty when there is none."""
    match = re.search(r"\bv?(\d+)\.(\d+)\.(\d+)", text)
    return tuple(int(number) for number in match.groups()) if match else ()


def candidates(name: str, path: str) -> Iterator[Path]:
    """The programs of that name in the folders of a PATH, without the scripts of a local cloud, which start them."""
    for folder in path.split(os.pathsep):
        candidate = Path(folder or ".") / name
        if candidate.is_file() and os.access(candidate, os.X_OK) and not _is_ours(candidate):
            yield candidate.resolve()


@cache
def version_of(program: Path, *ask: str) -> tuple[int, ...]:
    """The version that a program prints when it is called with the arguments ``ask``; empty if it cannot be run."""
    return numbers(child_process.output_of([program, *ask], seconds=ANSWER_SECONDS) or "")


def find(program: BuiltProgram, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The path of a suitable official program; ``None`` if there is none."""
    if program.name == PROVIDER_NAME:
        return plugin(environ)
    if not program.ask:
        return None
    minor = numbers(program.version)[:2]
    there = candidates(program.name, environ.get("PATH", ""))
    return next((one for one in there if version_of(one, *program.ask)[:2] == minor), None)


def plugin(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The Kubernetes provider of exactly the SDK's version in the user's own plugin cache.

    Another version would also work, but has no advantage over the built one.
    """
    version = metadata.version("pulumi-kubernetes")
    given, ours = environ.get("PULUMI_HOME"), environ.get("LLMD_GKE_HOME")
    # In a shell of a local cloud $PULUMI_HOME is that cloud's own, with a script of ours in the provider's place.
    own = bool(given and ours and Path(given).is_relative_to(ours))
    for home in (None if own else given, f"{environ.get('HOME') or '/'}/.pulumi"):
        program = Path(home or "/") / "plugins" / f"resource-kubernetes-v{version}" / PROVIDER_NAME
        if os.access(program, os.X_OK) and not _is_ours(program):
            return program
    return None


def _is_ours(candidate: Path) -> bool:
    try:
        with candidate.open("rb") as file:
            return MARK in file.read(1024)
    except OSError:
        return False
