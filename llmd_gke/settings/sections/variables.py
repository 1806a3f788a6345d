"""Environment variables of model servers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from llmd_gke.settings.sections.base import Section
from llmd_gke.settings.sections.formats import VARIABLE


class VariableSettings(Section):
    """One environment variable of the server: its ``value``, or a ``key`` of a Secret of the model's namespace."""

    name: Annotated[str, Field(pattern=VARIABLE)]
    """Name of the variable: letters, digits and underscores."""
    value: str | None = None
    """Plain text, readable by anyone who can read the repository, so never a password (default: empty, or
    ``secret``)."""
    secret: str | None = None
    """Name of an existing Secret in the namespace; set it with ``key``, instead of ``value``."""
    key: str | None = None
    """Key in the Secret; only with ``secret``, and required there."""
