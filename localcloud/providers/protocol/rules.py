"""The interface between the protocol and the rules of one cloud."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from localcloud.providers.protocol.difference import Difference, compare
from localcloud.providers.protocol.values import Bag, JsonObject, Path


class ProviderRefusal(Exception):
    """The cloud or the provider rejects a request. The message is that of the real provider."""


class Incomplete(ProviderRefusal):
    """The object was created or changed, and belongs into the state, but did not become ready or as requested.

    The engine records it with its ``reasons`` and the operation fails (``ErrorResourceInitFailed``).
    """

    def __init__(self, message: str, ident: str, outputs: JsonObject, reasons: list[str]) -> None:
        super().__init__(message)
        self.ident, self.outputs, self.reasons = ident, outputs, reasons


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


@dataclass(frozen=True)
class Autoname:
    """The engine's input for autonaming: a random seed, and possibly a name by the project's configuration."""

    seed: bytes
    proposed: str = ""
    disabled: bool = False


class Rules(ABC):
    """One cloud's rules. Properties are plain JSON; secrets come beside them and are kept by the protocol layer."""

    name: str
    version: str

    def check_config(self, inputs: JsonObject) -> list[Failure]:
        """Refuse provider settings."""
        del inputs
        return []

    def diff_config(self, old: JsonObject, new: JsonObject) -> Difference:
        """Compare provider settings."""
        return compare(old, new, lambda _: False)

    @abstractmethod
    def configure(self, config: JsonObject) -> None:
        """Take over provider settings."""

    @abstractmethod
    def check(
        self, subject: ResourceSubject, old: JsonObject, new: JsonObject, autoname: Autoname
    ) -> tuple[JsonObject, list[Failure]]:
        """Complete and judge inputs. ``old`` is empty for a new resource."""

    @abstractmethod
    def diff(
        self, subject: ResourceSubject, old_inputs: JsonObject, old_outputs: JsonObject, new: JsonObject
    ) -> Difference:
        """Compare a resource with its desired inputs."""

    @abstractmethod
    def preview(self, subject: ResourceSubject, inputs: Bag, old_outputs: JsonObject | None) -> JsonObject:
        """The outputs as far as they can be known before; ``old_outputs`` is ``None`` for a new resource."""

    @abstractmethod
    def create(self, subject: ResourceSubject, inputs: Bag, timeout: float) -> tuple[str, JsonObject]:
        """Create the object. Returns id and outputs. ``timeout`` in seconds, 0 if none was given."""

    @abstractmethod
    def update(self, subject: ResourceSubject, old_inputs: Bag, inputs: Bag, timeout: float) -> JsonObject:
        """Change the object in place. Returns the outputs."""

    @abstractmethod
    def read(self, subject: ResourceSubject, state: JsonObject) -> tuple[JsonObject, JsonObject] | None:
        """Inputs and outputs as they are now, ``None`` if it no longer exists. ``state``: the engine's."""

    @abstractmethod
    def delete(self, subject: ResourceSubject, outputs: JsonObject) -> None:
        """Remove the object."""

    def invoke(self, token: str, args: JsonObject) -> JsonObject:
        """Answer a function."""
        del args
        raise ProviderRefusal(f"the {self.name} stand-in has no function {token}")

    def secret_outputs(self, subject: ResourceSubject, outputs: JsonObject) -> Iterable[Path]:
        """Paths in the outputs that the real provider marks secret, whatever the inputs were."""
        del subject, outputs
        return ()
