"""The argument and result classes of an SDK package, created one by one.

``pulumi_gcp.compute._inputs`` and ``outputs`` have 3,300 classes, of which the program uses 34, and Python creates all
of them at every import. A :class:`LeanTypes` replaces such a module: it reads the same file, and runs the source of a
class, and of the classes that this one names, once something asks for it. What a class contains is unchanged.
"""

from __future__ import annotations

import re
import sys
import threading
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

MODULES = ("_inputs", "outputs")
_STARTS = (b"\n@pulumi.", b"\nclass ")
_NAMES = re.compile(rb"^class (\w+)", re.MULTILINE)
_REFERENCES = re.compile(rb"'(?:outputs\.)?([A-Z]\w*)'")
_LIST_OF_NAMES = re.compile(rb"^__all__ = \[.*?^\]", re.MULTILINE | re.DOTALL)


class LeanTypes(ModuleType):
    """A module with the classes of ``spec``'s source file, each of them created on first use.

    Attribute ``head``: what stands above the first class.
    """

    def __init__(self, spec: ModuleSpec, source: bytes) -> None:
        super().__init__(spec.name)
        self.__spec__, self.__file__, self.__package__ = spec, spec.origin, spec.parent
        self._source = source
        self.__all__: list[str]
        self._lock = threading.RLock()
        self.head = source[: min(at for start in _STARTS if (at := source.find(start)) >= 0)]

    def begin(self) -> None:
        """Runs the imports above the first class. The module must be in ``sys.modules``: it may import itself."""
        self._run(_LIST_OF_NAMES.sub(b"", self.head))

    def __getattr__(self, name: str) -> object:
        """The class of that name. ``__all__`` is the list of all names, so that ``import *`` creates all classes."""
        if name == "__all__":
            return [one.decode() for one in _NAMES.findall(self._source)]
        # Each `from . import outputs` asks for that name here, and a search that finds nothing reads megabytes.
        if not name[:1].isupper() or not self.create([name]):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return self.__dict__[name]

    def create(self, names: list[str]) -> list[str]:
        """Creates those classes of ``names`` that the file has, with all that they name. Returns the names it has."""
        with self._lock:
            present: list[str] = []
            texts: dict[int, bytes] = {}
            seen = set(names)
            waiting = list(names)
            while waiting:
                name = waiting.pop()
                if name in self.__dict__:
                    present.append(name)
                    continue
                begin, text = self._text(name)
                if not text:
                    continue
                present.append(name)
                texts[begin] = text
                # Names with Dict are for type checkers only, and nothing refers to them when the program runs.
                new = {one.decode() for one in _REFERENCES.findall(text) if not one.endswith(b"Dict")} - seen
                seen |= new
                waiting += new
            self._run(b"".join(texts[begin] for begin in sorted(texts)))
            return [name for name in names if name in present]

    def _run(self, code: bytes) -> None:
        # The code is an installed package's own. `dont_inherit`: not with this file's postponed annotations.
        exec(compile(code, str(self.__file__), "exec", dont_inherit=True), self.__dict__)  # noqa: S102

    def _text(self, name: str) -> tuple[int, bytes]:
        """Where a class begins, with its decorator, and its source; empty if the file has no such class."""
        # Classes of arguments have no base, those of results have one.
        for follows in ":(" if name.endswith("Args") else "(:":
            at = self._source.find(f"\nclass {name}{follows}".encode())
            if at >= 0:
                break
        else:
            return -1, b""
        line = self._source.rfind(b"\n", 0, at) + 1
        begin = line if self._source.startswith(b"@", line) else at + 1
        ends = [end for start in _STARTS if (end := self._source.find(start, at + 1)) >= 0]
        return begin, self._source[begin : min(ends, default=len(self._source)) + 1]


def install(package: str) -> None:
    """Puts a :class:`LeanTypes` in the place of the package's modules of classes that were not imported yet."""
    for name in MODULES:
        full = f"{package}.{name}"
        spec = None if full in sys.modules else find_spec(full)
        if spec is None or not spec.origin or not spec.origin.endswith(".py"):
            continue
        source = Path(spec.origin).read_bytes()
        # What a file says about its own compilation would not hold for its parts.
        module = LeanTypes(spec, source)
        if b"\nfrom __future__" not in module.head:
            sys.modules[full] = module
            module.begin()


def prepare(package: str, module: str) -> None:
    """Lets ``from ._inputs import *`` of ``module`` take the classes which that module names, and no others."""
    inputs, spec = sys.modules.get(f"{package}._inputs"), find_spec(module)
    if isinstance(inputs, LeanTypes) and spec is not None and spec.origin:
        named = {one.decode() for one in _REFERENCES.findall(Path(spec.origin).read_bytes())}
        inputs.__all__ = inputs.create(sorted(one for one in named if not one.endswith("Dict")))
