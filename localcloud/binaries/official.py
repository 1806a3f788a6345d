"""Finds official programs that are installed already: on PATH, or in Pulumi's plugin cache."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

from llmd_common import child_process
from localcloud.binaries.table import PROVIDER_NAME, BuiltProgram

ANSWER_SECONDS = 10.0
MARK = b"localcloud"
"""Every script that a local cloud puts on a shell's PATH or into its plugin cache contains this."""


def numbers(text: str) -> tuple[int, ...]:
    """The first version in a text, as in ``Kubernetes v1.36.3``; empty when there is none."""
    match = re.search(r"\bv?(\d+)\.(\d+)\.(\d+)\b", text)
    return tuple(int(number) for number in match.groups()) if match else ()


def find(program: BuiltProgram, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The path of a suitable official program; ``None`` if there is none."""
    if program.name == PROVIDER_NAME:
        return plugin(environ)
    if program.official is None:
        return None
    parts = program.official.parts
    for folder in environ.get("PATH", "").split(os.pathsep):
        candidate = Path(folder or ".") / program.name
        if not os.access(candidate, os.X_OK) or not candidate.is_file() or _is_ours(candidate):
            continue
        here = candidate.resolve()
        if numbers(_version_output(here, program.official.ask))[:parts] == numbers(program.version)[:parts]:
            return here
    return None


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
    """Whether it is a script of a local cloud, such as its `kubectl`, which starts the program itself."""
    try:
        with candidate.open("rb") as file:
            return MARK in file.read(1024)
    except OSError:
        return False


@cache
def _version_output(program: Path, ask: tuple[str, ...]) -> str:
    """The output of a program's version command; empty if it cannot be run."""
    return child_process.output_of([program, *ask], seconds=ANSWER_SECONDS) or ""
