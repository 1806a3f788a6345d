"""What a call of the engine is about, and the refusals that answer it."""

from __future__ import annotations

from dataclasses import dataclass


class ProviderRefusal(Exception):
    """The cloud or the provider rejects a request. The message is that of the real provider."""


@dataclass(frozen=True)
class Failure:
    """A property that Check refuses."""

    property: str
    reason: str


@dataclass(frozen=True)
class ResourceSubject:
    """The resource a call is about."""

    type: str
    name: str
    urn: str
    id: str = ""
