"""The base class and types that all settings share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from llmd_gke.settings.sections.formats import NO_SPACES


class Section(BaseModel):
    """Base of all settings: frozen, strict, and without unknown keys."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, alias_generator=to_camel, populate_by_name=True, validate_default=True
    )


Word = Annotated[str, Field(pattern=NO_SPACES)]
"""A name or an address: text without spaces."""
Nodes = Annotated[int, Field(ge=0, le=2048)]
Cidr: TypeAlias = str
"""An IPv4 range such as ``10.0.0.0/20``; :func:`llmd_gke.rules.names.cidr` checks it."""
