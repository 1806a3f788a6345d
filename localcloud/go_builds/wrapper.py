"""Build targets: programs, and the wrapper modules below ``gomod/`` that pin them."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from localcloud.go_builds.go_toolchain import Purpose

GOMOD = Path(__file__).resolve().with_name("gomod")
NO_DEBUGGER = "-dwarf=false"
"""The compiler's share of the linker's ``-s -w``: it writes no DWARF that the linker would discard. That saves 8 % of a
build's processor time. The program remains the same, so the cache key does not contain it."""


@dataclass(frozen=True)
class ModuleChanges:
    """Changes to the wrapped module before it is compiled.

    ``files``: given its folder, files of it with their text, ``None`` for one that is left out. ``what``: a short text
    that changes with them, as a program with other changes is another program.
    """

    files: Callable[[Path], Mapping[str, str | None]]
    what: str


@dataclass(frozen=True)
class Wrapper:
    """A Go module of this project that pins others.

    ``name``: its folder below ``gomod/``. ``pins``: path and version of the module it wraps. ``tags``: build tags.
    ``disk_mb``: size of Go's build cache and of linking; ``modules_mb``: size of its modules; ``memory_mb``: memory of
    a build with one compiler; all measured. ``files``: given the folder of the wrapped module, files (name to text)
    that the wrapper's own code embeds. ``without``: optional files of the wrapped module that are omitted.
    ``changes``: other differences from the wrapped module.
    """

    name: str
    pins: tuple[str, str]
    disk_mb: int
    modules_mb: int
    memory_mb: int
    tags: str = ""
    files: Callable[[Path], Mapping[str, str]] | None = None
    without: tuple[str, ...] = ()
    changes: ModuleChanges | None = None
    folder: Path = field(default=GOMOD)

    @property
    def flags(self) -> list[str]:
        """Flags of every ``go build`` and ``go list`` in it."""
        tags = ["-tags", self.tags] if self.tags else []
        return [*tags, f"-gcflags=all={NO_DEBUGGER}"]

    @property
    def source(self) -> Path:
        """The folder of the wrapper module."""
        return self.folder / self.name

    @property
    def pinned_folder(self) -> str:
        """The wrapped module's folder in a module cache (an upper-case letter is written ``!`` and small)."""
        path, version = self.pins
        return "".join(f"!{letter.lower()}" if letter.isupper() else letter for letter in f"{path}@{version}")

    def digest(self, *patterns: str) -> str:
        """A hash of its files that match."""
        content = hashlib.sha256()
        for file in sorted({path for pattern in patterns for path in self.source.glob(pattern) if path.is_file()}):
            content.update(str(file.relative_to(self.source)).encode() + b"\0" + file.read_bytes() + b"\0")
        return content.hexdigest()[:12]


@dataclass(frozen=True)
class BuildTarget:
    """A program: its file name, the package it is built from, link-time variables, and processor seconds (measured)."""

    name: str
    package: str
    cpu_seconds: float
    stamps: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def ldflags(self) -> str:
        """The linker's flags."""
        return " ".join(["-s -w", *(f"-X {variable}={value}" for variable, value in self.stamps.items())])


@dataclass(frozen=True)
class Job:
    """Programs of one wrapper that are to be built now, in that order, and the final path of each."""

    wrapper: Wrapper
    targets: tuple[BuildTarget, ...]
    kept: Mapping[str, Path]
    purpose: Purpose

    @property
    def cpu_seconds(self) -> float:
        """Processor seconds that all programs of the job are expected to take."""
        return sum(target.cpu_seconds for target in self.targets)


def machine() -> str:
    """Operating system and processor, as in ``linux-x86_64``."""
    return f"{platform.system().lower()}-{platform.machine()}"
