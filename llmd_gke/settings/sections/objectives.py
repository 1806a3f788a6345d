"""What the operator of a model promises its clients."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from llmd_gke.settings.sections.base import Section


class ObjectivesSettings(Section):
    """Service level objectives of a model: what alerts measure it against (``docs/alerts.md``)."""

    availability: Annotated[float, Field(ge=95, le=99.99)] = 99.0
    """Percentage of requests that the servers must not fail (default: 99). Errors of clients, status 4xx, do not
    count."""
    first_token_seconds: Annotated[float, Field(ge=0.05, le=600)] = 5.0
    """Time to first token in seconds, 95th percentile (default: 5)."""
    inter_token_milliseconds: Annotated[float, Field(ge=1, le=10_000)] = 200.0
    """Time between two tokens in milliseconds, 95th percentile (default: 200)."""
