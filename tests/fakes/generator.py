"""The benchmark's own Python with the load generator, where somebody has set it up: tests do not load 0.7 GB."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmd_common import bootstrap


def python() -> Path:
    """That Python; skips where nobody has made it."""
    if not bootstrap.is_beside("bench"):
        pytest.skip("the benchmark's environment is not set up (the first `llmd-gke bench` does it)")
    return bootstrap.beside("bench")
