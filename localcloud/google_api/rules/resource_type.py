"""The description of one resource type, and the objects that rules look at."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from localcloud.google_api.rules import preexisting
from localcloud.providers.protocol.faults import Faults
from localcloud.providers.protocol.values import JsonObject, dig, table, text


def digits(seed: str, count: int = 19) -> str:
    """A number of ``count`` digits that looks random but depends on ``seed`` only: for ids and fingerprints. One of 19
    digits fits a signed 64-bit integer, as which the provider reads the id of a subnet.
    """
    text = str(int(hashlib.sha256(seed.encode()).hexdigest(), 16))[:count]
    return text if count != 19 or int(text) < 2**63 else f"1{text[1:]}"


def short(reference: str) -> str:
    """The name in a reference: ids, links and bare names all end with it (upstream ``GetResourceNameFromSelfLink``)."""
    return reference.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class TargetResource:
    """A resource as an operation sees it. ``scope``: project, region, zone, location, its own or the provider's."""

    type: str
    id: str
    inputs: JsonObject
    scope: dict[str, str]

    def text(self, *path: str) -> str:
        """A string of the inputs, ``""`` where missing or unknown."""
        return text(self.inputs, *path)

    @property
    def name(self) -> str:
        """The name, ``""`` where unknown."""
        return self.text("name")

    @property
    def project(self) -> str:
        """The project's id."""
        return self.scope["project"]


_PROJECTS = ("apis", "apisSince")
"""What belongs to projects, not to their objects."""


class CloudState:
    """The cloud's objects: type, then id, then record (``inputs``, ``computed``, ``created``, ``status``).

    ``folder`` contains the file of the Kubernetes stand-in.
    """

    def __init__(self, content: JsonObject, faults: Faults, folder: Path | None = None) -> None:
        self.content, self.faults, self.folder = content, faults, folder

    def all(self, kind: str) -> dict[str, JsonObject]:
        """Every object of a type, by id, with those that are older than the stack."""
        made = {k: v for k, v in table(self.content, "objects", kind).items() if isinstance(v, dict)}
        return {**preexisting.all_of(kind, self.faults), **made}

    def get(self, kind: str, ident: str) -> JsonObject | None:
        """One object, or ``None``."""
        return self.all(kind).get(ident)

    def put(self, kind: str, ident: str, record: JsonObject) -> None:
        """Store an object."""
        everything = self.content.setdefault("objects", {})
        assert isinstance(everything, dict)  # noqa: S101
        of_kind = everything.setdefault(kind, {})
        assert isinstance(of_kind, dict)  # noqa: S101
        of_kind[ident] = record

    def drop(self, kind: str, ident: str) -> None:
        """Remove an object, and with the last one what the project remembers, such as a network still in use.

        Its APIs stay enabled, as Google's do: the stack whose last object it was may still be there.
        """
        everything = self.content.get("objects")
        of_kind = everything.get(kind) if isinstance(everything, dict) else None
        if isinstance(everything, dict) and isinstance(of_kind, dict):
            of_kind.pop(ident, None)
            if not of_kind:
                del everything[kind]
            if not everything:
                kept = {name: self.content[name] for name in _PROJECTS if name in self.content}
                self.content.clear()
                self.content.update(kept)

    def enabled(self, project: str) -> set[str]:
        """The project's enabled APIs."""
        apis = dig(self.content, "apis", project)
        return {str(api) for api in apis} if isinstance(apis, list) else set()

    def enable(self, project: str, apis: set[str]) -> None:
        """Set the project's enabled APIs."""
        self._note_new_apis(project, apis - self.enabled(project))
        projects = self.content.setdefault("apis", {})
        assert isinstance(projects, dict)  # noqa: S101
        projects[project] = [*sorted(apis)]

    def _note_new_apis(self, project: str, new: set[str]) -> None:
        """Stores when APIs were enabled whose use the fault ``usableAfter`` delays."""
        if delayed := new & self.faults.keys("usableAfter"):
            since = self.content.setdefault("apisSince", {})
            assert isinstance(since, dict)  # noqa: S101
            since.update({f"{project}/{api}": time.time() for api in delayed})

    def usable(self, project: str, api: str) -> bool:
        """Whether calls of an API that is enabled get through: Google's servers learn of it one after the other."""
        seconds, since = self.faults.value("usableAfter", api), dig(self.content, "apisSince", f"{project}/{api}")
        if not isinstance(seconds, int | float) or not isinstance(since, int | float):
            return True
        return time.time() - since >= seconds


def allow(cloud_state: CloudState, target: TargetResource) -> None:
    """Default of ``create`` and ``delete``: allows everything."""
    del cloud_state, target


def allow_update(cloud_state: CloudState, target: TargetResource, old: JsonObject) -> None:
    """Default of ``update``: allows it."""
    del cloud_state, target, old


@dataclass(frozen=True)
class ResourceType:
    """One resource type: what the cloud refuses when it is created, changed or deleted.

    ``collection``: the part of its id before its name, if it is a resource of Compute Engine in its own right.
    """

    collection: str = ""
    create: Callable[[CloudState, TargetResource], None] = allow
    update: Callable[[CloudState, TargetResource, JsonObject], None] = allow_update
    delete: Callable[[CloudState, TargetResource], None] = allow
