"""Imports modules of an SDK package without evaluating their annotations.

``pulumi_gcp.container._inputs`` and ``outputs`` have 1,400 classes, and half of the time of their import goes into
annotations. As texts these cost nothing, and Pulumi evaluates the few that it needs (``get_type_hints`` in the SDK's
``pulumi/_types.py``). The bytecode is stored beside Python's own, under a different name; where it neither is nor can
be, modules are imported in the ordinary way, which is then faster. Measured with Python 3.11; 3.14 evaluates no
annotation at import by itself.
"""

from __future__ import annotations
import __future__

import importlib
import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import cache_from_source, find_spec, module_from_spec
from pathlib import Path
from types import CodeType, ModuleType

LAZY = (3, 14)
"""From this version of Python on, all modules are imported without evaluating annotations (PEP 649)."""

_FLAG = __future__.annotations.compiler_flag


class PostponedLoader(SourceFileLoader):
    """Compiles a file as if it began with ``from __future__ import annotations``."""

    def source_to_code(self, data: bytes, path: str, *, _optimize: int = -1) -> CodeType:  # pyright: ignore[reportIncompatibleMethodOverride] # without syntax trees
        """The file's code."""
        return compile(data, path, "exec", flags=_FLAG, dont_inherit=True, optimize=_optimize)

    def get_data(self, path: str) -> bytes:
        """The content of a source file, or of the bytecode that this loader stored for it."""
        return super().get_data(_own(path))

    def set_data(self, path: str, data: bytes, *, _mode: int = 0o666) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] # the base class has _mode, too
        """Stores bytecode in place of Python's own file at ``path``."""
        super().set_data(_own(path), data, _mode=_mode)


def _own(path: str) -> str:
    """Python's own bytecode has evaluated annotations."""
    return path.removesuffix(".pyc") + ".postponed.pyc" if path.endswith(".pyc") else path


def _stored(source: Path) -> bool:
    """Whether the bytecode of a file is stored, or can be."""
    bytecode = Path(_own(cache_from_source(str(source))))
    if bytecode.exists() and bytecode.stat().st_mtime >= source.stat().st_mtime:
        return True
    folder = bytecode.parent if bytecode.parent.exists() else bytecode.parent.parent
    return not sys.dont_write_bytecode and os.access(folder, os.W_OK)


def imported(name: str) -> ModuleType:
    """The module of that name; if it was not imported yet, by :class:`PostponedLoader` where that is faster."""
    spec = None if name in sys.modules or sys.version_info >= LAZY else find_spec(name)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py") or not _stored(Path(spec.origin)):
        return importlib.import_module(name)
    spec.loader = PostponedLoader(name, spec.origin)
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    package, _, last = name.rpartition(".")
    setattr(sys.modules[package], last, module)
    return module
