"""The location of the repository."""

from __future__ import annotations

from pathlib import Path

CLONE = Path(__file__).resolve().parents[1]
