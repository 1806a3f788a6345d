"""Where the repository is."""

from __future__ import annotations

from pathlib import Path

CLONE = Path(__file__).resolve().parents[1]
"""The clone that this package belongs to."""
