"""Recorded graphs, each recorded once a run: whichever worker needs it first records it for all."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path

from llmd_gke.graph import recording
from llmd_gke.graph.resources import Graph

folder: Path | None = None
"""Where the workers of a run keep their graphs."""


def load(
    root: Path,
    stack: str,
    *,
    preview: bool = True,
    changes: Mapping[str, object] | None = None,
    plain: Collection[str] = (),
) -> Graph:
    """The graph of a stack file as ``recording.load`` records it. Shared between tests: do not change it."""
    return _load(root, stack, preview, json.dumps(dict(changes or {})), tuple(plain))


@lru_cache(maxsize=64)
def _load(root: Path, stack: str, preview: bool, changes: str, plain: tuple[str, ...]) -> Graph:
    assert folder is not None
    file = folder / hashlib.sha256(repr((str(root), stack, preview, changes, plain)).encode()).hexdigest()
    if not file.exists():
        graph = recording.load(root, stack, preview=preview, changes=json.loads(changes), plain=plain)
        unfinished = file.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(pickle.dumps(graph))
        unfinished.replace(file)
    return pickle.loads(file.read_bytes())
