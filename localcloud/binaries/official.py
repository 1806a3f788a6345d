"""Finds official plugins that are installed already: on PATH, or in Pulumi's plugin cache."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

from llmd_common import child_process
from llmd_common.problems import BadInput
from localcloud.common.environment import is_removed
from localcloud.go_builds.wrapper import BuiltProgram

ANSWER_SECONDS = 20.0
MARK = b"localcloud"
"""Every script that a local cloud puts on a shell's PATH or into its plugin cache contains this."""

VARIABLE = "LLMD_GKE_PLUGINS"
"""``built``: official plugins are neither used nor downloaded, as in CI, which must not depend on them."""


def numbers(text: str) -> tuple[int, ...]:
    """The first version in a text, as in ``Kubernetes v1.36.3``; empty when there is none."""
    match = re.search(r"\bv?(\d+)\.(\d+)\.(\d+)", text)
    return tuple(int(number) for number in match.groups()) if match else ()


def candidates(name: str, path: str) -> Iterator[Path]:
    """The programs of that name in the folders of a PATH, without the scripts of a local cloud, which start them."""
    for folder in path.split(os.pathsep):
        candidate = Path(folder or ".") / name
        if _is_program(candidate):
            yield candidate.resolve()


@cache
def printed(program: Path, *ask: str) -> str:
    """What a program prints when it is called with the arguments ``ask``, without credentials; empty if it fails."""
    environment = {name: value for name, value in os.environ.items() if not is_removed(name)}
    return child_process.output_of([program, *ask], seconds=ANSWER_SECONDS, environment=environment) or ""


def version_of(program: Path, *ask: str) -> tuple[int, ...]:
    """The version that a program prints when it is called with the arguments ``ask``; empty if it cannot be run."""
    return numbers(printed(program, *ask))


def find(program: BuiltProgram, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The path of an official plugin in exactly the SDK's version; ``None`` if there is none. Raises ``BadInput``."""
    if not replaces(program, environ):
        return None
    if cached := _in_plugin_cache(program, environ):
        return cached
    there = candidates(program.name, environ.get("PATH", "")) if program.ask else ()
    return next((one for one in there if is_right_version(program, one)), None)


def plugin_version(program: BuiltProgram) -> str:
    """The version that the SDK requests of its plugin."""
    return metadata.version(f"pulumi-{program.plugin}")


def replaces(program: BuiltProgram, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether an official plugin may take the place of the program. Raises ``BadInput`` for a wrong variable."""
    if not program.plugin:
        return False
    chosen = environ.get(VARIABLE)
    if chosen not in (None, "", "built"):
        raise BadInput(f"{VARIABLE}={chosen} is not allowed. Allowed: built.\nFix: unset {VARIABLE}.")
    return not chosen


def is_right_version(program: BuiltProgram, file: Path) -> bool:
    """Whether a plugin prints the SDK's version. True for one that prints none."""
    return not program.ask or printed(file, *program.ask).removeprefix("v") == plugin_version(program)


def _in_plugin_cache(program: BuiltProgram, environ: Mapping[str, str]) -> Path | None:
    """The plugin in the user's own plugin cache, if it is complete: the engine removes ``.partial`` at the end of an
    installation.
    """
    given, ours = environ.get("PULUMI_HOME"), environ.get("LLMD_GKE_HOME")
    # In a shell of a local cloud $PULUMI_HOME is that cloud's own, with a script of ours in the provider's place.
    own = bool(given and ours and Path(given).is_relative_to(ours))
    name = f"resource-{program.plugin}-v{plugin_version(program)}"
    for home in (None if own else given, f"{environ.get('HOME') or '/'}/.pulumi"):
        folder = Path(home or "/") / "plugins" / name
        if not folder.with_name(f"{name}.partial").exists() and _is_program(folder / program.name):
            return folder / program.name
    return None


def _is_program(candidate: Path) -> bool:
    """Whether it is a file that can be run, and no script of a local cloud."""
    if not candidate.is_file() or not os.access(candidate, os.X_OK):
        return False
    try:
        with candidate.open("rb") as file:
            return MARK not in file.read(1024)
    except OSError:
        return True  # it can be run, but not be read
