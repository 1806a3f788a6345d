"""Repositories that cache a stack's images."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from llmd_gke.settings.sections.base import Section


class ImageCacheSettings(Section):
    """Repositories in Artifact Registry, one for each registry of the stack's images, that keep what was pulled through
    them. ``{}`` accepts the defaults.
    """

    keep_days: Annotated[int, Field(ge=1, le=3650)] = 30
    """Days for which every version of an image is kept; of older ones the ten newest of each image remain (default:
    30)."""
