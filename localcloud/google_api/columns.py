"""The columns of the emulator's tables; separate from the rows, so that ``--help`` imports nothing large."""

from __future__ import annotations

from collections.abc import Mapping

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "resources": ("type", "name", "location", "project", "status"),
    "operations": ("name", "type", "target", "status", "progress", "failure"),
    "requests": ("time", "status", "http", "method", "path", "error"),
    "faults": ("fault", "method", "resource", "times", "after", "details"),
}
"""The tables that can be shown, with their columns. A row may also have a ``body``."""
