"""The provider protocol's generated messages, imported without the Pulumi SDK around them.

``import pulumi`` costs 0.15 s and pulls in tracing; a provider needs only the messages. Empty parent packages that
point at the SDK's folders let Python find ``pulumi.runtime.proto`` and skip the two ``__init__`` files above it. They
are taken away again, so that a process that needs the SDK itself (tests, the generator of the table) can import it.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_PARENTS = {"pulumi": ".", "pulumi.runtime": "runtime"}


@contextmanager
def _bare_parents() -> Generator[None, None, None]:
    spec = None if "pulumi" in sys.modules else importlib.util.find_spec("pulumi")
    if spec is None or spec.origin is None:  # loaded already; or not installed, which the import below will say
        yield
        return
    for name, folder in _PARENTS.items():
        package = types.ModuleType(name)
        package.__path__ = [str(Path(spec.origin).parent / folder)]
        sys.modules[name] = package
    try:
        yield
    finally:
        for name in _PARENTS:
            del sys.modules[name]


with _bare_parents():
    from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

__all__ = ["plugin_pb2", "provider_pb2", "provider_pb2_grpc", "status_pb2"]
