"""The benchmark's own Python with the load generator, where somebody has set it up: tests do not load 0.7 GB."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from localcloud import bootstrap


def python() -> Path:
    """That Python; skips where nobody has made it."""
    key = hashlib.sha256((bootstrap.REQUIREMENTS / "bench.txt").read_bytes()).hexdigest()[:12]
    name = f"bench-{key}-py{sys.version_info[0]}.{sys.version_info[1]}"
    if not (bootstrap.cache_folder() / name / "complete").exists():
        pytest.skip("the benchmark's environment is not set up (the first `llmd-gke bench` does it)")
    return bootstrap.beside("bench")
