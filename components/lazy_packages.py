"""Imports only those modules of the large SDK packages that are used.

``import pulumi_gcp.compute`` runs all of its six hundred modules, which takes a second of each preview, for five
resources. Here a package is put into ``sys.modules`` without running its ``__init__``, and a class is imported from
the module that is named after it, without evaluating annotations (:mod:`components.postponed_annotations`); of the
packages with thousands of argument classes, only those that are needed are created (:mod:`components.lean_types`).
Types are unaffected: checkers see the real packages (``TYPE_CHECKING``).
To switch this off for a package, import one of its classes before the components: ``from pulumi_gcp.compute import
Network``. The SDK imports a package itself lazily, too, so its name alone does not.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import re
import sys
from types import ModuleType

from components import lean_types, postponed_annotations

_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class LeanPackage(ModuleType):
    """A package whose classes are imported one by one, on first use."""

    def __getattr__(self, name: str) -> object:
        """The class of that name. Raises ``AttributeError`` if the package has no module for it."""
        if name.startswith("__"):
            raise AttributeError(name)
        snake = _WORD_STARTS.sub("_", name).lower()
        for module in (snake, name, snake.removesuffix("_args"), name.removesuffix("Args"), "_inputs"):
            if importlib.util.find_spec(f"{self.__name__}.{module}") is not None:
                member = getattr(_imported(self.__name__, module), name, None)
                if member is not None:
                    setattr(self, name, member)
                    return member
        raise AttributeError(f"{self.__name__} has no {name} that can be found by its name; import the package itself")


def _imported(package: str, name: str) -> ModuleType:
    """Imports a package's module while the garbage collector is paused, and excludes its classes from later
    collections.
    """
    full = f"{package}.{name}"
    if full in sys.modules:
        return sys.modules[full]
    gc.disable()
    lean_types.prepare(package, full)
    try:
        for types in lean_types.MODULES:  # most modules import them, and would evaluate their annotations
            if importlib.util.find_spec(f"{package}.{types}") is not None:
                postponed_annotations.imported(f"{package}.{types}")
        return postponed_annotations.imported(full)
    finally:
        gc.freeze()
        gc.enable()


def package(name: str, *, many_types: bool = False) -> ModuleType:
    """The package of that name, imported lazily unless it was already imported in full; later imports return the same
    object. ``many_types``: its argument classes are created one by one, too.
    """
    present = sys.modules.get(name)
    # A package that the SDK loads lazily has a class of its own until its first use.
    if isinstance(present, LeanPackage) or type(present) is ModuleType:
        return present
    parent, _, last = name.rpartition(".")
    above = importlib.import_module(parent)
    sys.modules.pop(name, None)
    spec = importlib.util.find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError(f"{name} is not a package")
    lean = LeanPackage(name)
    lean.__path__ = list(spec.submodule_search_locations)
    lean.__spec__ = spec
    lean.__package__ = name
    sys.modules[name] = lean
    setattr(above, last, lean)
    if many_types:
        lean_types.install(name)
    return lean
