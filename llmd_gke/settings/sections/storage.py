"""Buckets."""

from __future__ import annotations

from pydantic import Field

from llmd_gke.settings.sections.base import Shape


class StorageSettings(Shape):
    """``buckets``: names of the buckets that the program makes, in the cluster's region. Every other bucket that a
    model names exists already; the program only lets the model's pods in.
    """

    buckets: tuple[str, ...] = Field(default=(), strict=False)
