"""Programs, and the wrapper modules below ``gomod/`` that pin what they are built from."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

GOMOD = Path(__file__).resolve().with_name("gomod")
PINS = ("go.mod", "go.sum")
PULUMIS_TAGS = "osusergo,grpcnotrace"
"""Build tags of the engine, and of plugins, which use what was compiled for it."""
OWN_CODE = ("*.go", "*.json", "*/*.go")


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
    ``files``: given the folder of the wrapped module, files (name to text) that the wrapper's own code embeds.
    ``changes``: differences from the wrapped module. ``shared``: the next wrapper's modules have the same versions, so
    that it uses what was compiled for this one.
    """

    name: str
    pins: tuple[str, str]
    tags: str = ""
    files: Callable[[Path], Mapping[str, str]] | None = None
    changes: ModuleChanges | None = None
    shared: bool = False
    folder: Path = field(default=GOMOD)

    @property
    def source(self) -> Path:
        """The folder of the wrapper module."""
        return self.folder / self.name

    def digest(self, *patterns: str) -> str:
        """A hash of its files that match."""
        content = hashlib.sha256()
        for file in sorted({path for pattern in patterns for path in self.source.glob(pattern) if path.is_file()}):
            content.update(str(file.relative_to(self.source)).encode() + b"\0" + file.read_bytes() + b"\0")
        return content.hexdigest()[:12]


@dataclass(frozen=True)
class BuiltProgram:
    """A program, the package and the wrapper it is built from, its version, and variables that the linker sets.

    ``plugin``: the official Pulumi plugin, as in ``gcp``, that replaces ours in exactly the SDK's version. ``ask``:
    arguments with which it prints its version, if it does. ``instead``: what the user can do instead of building it.
    ``size``: what building takes, for messages. ``by_default``: every laptop cloud runs it. The others are built only
    on request.
    """

    name: str
    package: str
    wrapper: Wrapper
    version: str
    stamps: Mapping[str, str] = field(default_factory=dict[str, str])
    ask: tuple[str, ...] = ()
    plugin: str = ""
    instead: str = ""
    size: str = ""
    by_default: bool = True

    @property
    def output(self) -> str:
        """The file name that Go gives it: the last part of the package's path that is no major version."""
        path = self.package if self.package != "." else self.wrapper.name
        return [part for part in path.split("/") if not re.fullmatch(r"v\d+", part)][-1]

    @property
    def ldflags(self) -> str:
        """The linker's flags."""
        return " ".join(["-s -w", *(f"-X {variable}={value}" for variable, value in self.stamps.items())])

    @property
    def key(self) -> str:
        """The name of one build: version, machine, and a hash of all inputs that the program's behaviour depends on."""
        changes, own = self.wrapper.changes, OWN_CODE if self.package.startswith(".") else ()
        parts = (self.wrapper.digest(*PINS, *own), self.package, self.ldflags, self.wrapper.tags)
        content = "\0".join((*parts, changes.what) if changes else parts)
        return name_of_build(self.name, self.version, hashlib.sha256(content.encode()).hexdigest()[:12])

    def path(self, cache: Path) -> Path:
        """The path of the built program in the cache, whether it exists or not."""
        return cache / "programs" / self.key / self.name


def name_of_build(name: str, version: str, digest: str) -> str:
    """The name of a folder in the cache: what was built, of which version, for this machine, from what."""
    return f"{name}-{version}-{machine()}-{digest}"


def machine() -> str:
    """Operating system and processor, as in ``linux-x86_64``."""
    return f"{platform.system().lower()}-{platform.machine()}"
