"""The paths of built programs in the cache."""

from __future__ import annotations

import hashlib
from pathlib import Path

from localcloud.binaries.table import BuiltProgram
from localcloud.go_builds.wrapper import machine

COMMAND = ".venv/bin/python -m localcloud programs"


def key(program: BuiltProgram) -> str:
    """The name of one build: version, machine, and a hash of all inputs that a program's behaviour depends on."""
    target, wrapper = program.target, program.wrapper
    more = [*wrapper.without]
    if wrapper.changes:
        more.append(wrapper.changes.what)
    parts = (
        wrapper.digest("go.mod", "go.sum", "*.go", "*.json", "*/*.go"),
        target.package,
        target.ldflags,
        wrapper.tags,
        *more,
    )
    content = "\0".join(parts)
    digest = hashlib.sha256(content.encode()).hexdigest()[:12]
    return f"{program.name}-{program.version}-{machine()}-{digest}"


def built(cache: Path, program: BuiltProgram) -> Path:
    """The path of the built program, whether it exists or not."""
    return cache / "programs" / key(program) / program.name
