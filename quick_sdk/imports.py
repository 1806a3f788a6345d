"""An import hook for the generated packages of providers.

``pulumi_gcp.compute`` imports all of its six hundred modules as soon as one of its classes is used. With the hook, it
imports the module that is named after the class, by a ``__getattr__`` of the package (PEP 562); for a name that this
does not find, the package is imported as usual. No annotation is evaluated at import (PEP 563): Pulumi evaluates the
few that it needs (``get_type_hints`` in the SDK's ``pulumi/_types.py``). The garbage collector pauses meanwhile, and
never searches what was imported.
"""

from __future__ import annotations
import __future__

import gc
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import cache_from_source
from pathlib import Path
from pkgutil import iter_modules
from types import CodeType, ModuleType

SDKS = ("pulumi_gcp.", "pulumi_kubernetes.")
ENDINGS = ("", "Args", "InitArgs", "_output")
"""A module also defines what has its name with one of these: ``ClusterArgs``, ``get_project_output``."""
LAZY_ANNOTATIONS = (3, 14)
"""From this version on, Python evaluates no annotation at import (PEP 649)."""


@contextmanager
def _without_collections() -> Generator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            gc.enable()


class PackageLoader(SourceFileLoader):
    """Runs a package's ``__init__`` only for a name that no module of the package is named after."""

    def exec_module(self, module: ModuleType) -> None:
        """Gives the package a ``__getattr__`` that imports what it is asked for."""
        modules = {name.replace("_", "").lower(): name for _, name, _ in iter_modules(module.__path__)}

        def imported(name: str) -> object:
            if name.startswith("__") and name != "__all__":  # `import *` asks for it, and wants all names
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            files = [modules.get(name.removesuffix(end).replace("_", "").lower()) for end in ENDINGS]
            for file in dict.fromkeys([*files, modules.get("inputs")]):
                if file is not None and name != "__all__":
                    part = import_module(f"{module.__name__}.{file}")
                    if file != "outputs":  # like `from .file import *`: a class takes the place of its module
                        module.__dict__.update({each: getattr(part, each) for each in part.__all__})
                    if name == file or name in module.__dict__:
                        return module.__dict__.get(name, part)
            del module.__dict__["__getattr__"]
            super(PackageLoader, self).exec_module(module)
            return getattr(module, name)

        module.__dict__["__getattr__"] = imported


class ModuleLoader(SourceFileLoader):
    """Compiles a file as if it began with ``from __future__ import annotations``.

    The bytecode is stored beside Python's own, which evaluates annotations.
    """

    def source_to_code(self, data: bytes, path: str, *, _optimize: int = -1) -> CodeType:  # pyright: ignore[reportIncompatibleMethodOverride] # without syntax trees
        """The file's code."""
        flags = __future__.annotations.compiler_flag
        return compile(data, path, "exec", flags=flags, dont_inherit=True, optimize=_optimize)

    def get_data(self, path: str) -> bytes:
        """The content of a source file, or of its bytecode."""
        return super().get_data(_own(path))

    def set_data(self, path: str, data: bytes, *, _mode: int = 0o666) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] # the base class has _mode, too
        """Writes the bytecode beside Python's own."""
        super().set_data(_own(path), data, _mode=_mode)

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module."""
        with _without_collections():
            super().exec_module(module)


def _own(path: str) -> str:
    return path.removesuffix(".pyc") + ".postponed.pyc" if path.endswith(".pyc") else path


def _stored(source: Path) -> bool:
    """Whether the bytecode of a file is stored, or can be. To compile it in each process would take longer."""
    bytecode = Path(_own(cache_from_source(str(source))))
    if bytecode.exists() and bytecode.stat().st_mtime >= source.stat().st_mtime:
        return True
    folder = bytecode.parent if bytecode.parent.exists() else source.parent
    return not sys.dont_write_bytecode and os.access(folder, os.W_OK)


class SdkFinder(MetaPathFinder):
    """Finds modules of :data:`SDKS` where Python finds them, with a loader of this module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's spec; ``None`` for other modules."""
        spec = PathFinder.find_spec(fullname, path, target) if fullname.startswith(SDKS) else None
        if spec is None or spec.origin is None or not isinstance(spec.loader, SourceFileLoader):
            return spec
        if spec.submodule_search_locations is not None:
            # Packages of packages import these lazily by themselves.
            if b"lazy_import(" not in Path(spec.origin).read_bytes():
                spec.loader = PackageLoader(fullname, spec.origin)
        elif sys.version_info < LAZY_ANNOTATIONS and _stored(Path(spec.origin)):
            spec.loader = ModuleLoader(fullname, spec.origin)
        return spec


def install() -> None:
    """Puts the finder before Python's own, once. Modules that were imported already stay as they are."""
    if not any(isinstance(finder, SdkFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, SdkFinder())
