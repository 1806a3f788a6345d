"""Types for JSON-like objects."""

from __future__ import annotations

from llmd_gke.json_types import Json, JsonObject

__all__ = ["Json", "JsonObject"]
