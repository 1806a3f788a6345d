"""What the readers of sources return: resources as the engine would show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from llmd_gke.rules.inputs import UNKNOWN, Value, table_of
from policies.extract import CRD_FIELDS


@dataclass(frozen=True)
class Resource:
    """A resource: its type token, inputs and name. ``file`` and ``line`` (from 1) say where it is, if it is in a file.

    ``protect`` is Pulumi's resource option, ``None`` if it is not known.
    """

    type: str
    inputs: Value
    name: str = ""
    file: str = ""
    line: int = 0
    protect: bool | None = False


@dataclass
class Source:
    """The resources of a source, and what of it was not read, with the reason and what to do.

    ``status`` is the exit status if something that should have been read could not be. ``stack`` is Pulumi's.
    """

    resources: list[Resource] = field(default_factory=list[Resource])
    unread: list[str] = field(default_factory=list[str])
    status: int = 0
    stack: str = ""

    def add(self, other: Source) -> None:
        """Adds what was read elsewhere."""
        self.resources += other.resources
        self.unread += other.unread
        self.status = self.status or other.status


def of_object(value: Mapping[str, Value], file: str = "", line: int = 0) -> Resource:
    """The resource of a Kubernetes object, which has ``apiVersion`` and ``kind``."""
    version, kind = str(value["apiVersion"]), str(value["kind"])
    if kind == "CustomResourceDefinition":
        value = {**{key: value[key] for key in CRD_FIELDS if key in value}, "spec": {}}
    group = version if "/" in version else f"core/{version}"
    name = table_of(value.get("metadata")).get("name")
    return Resource(f"kubernetes:{group}:{kind}", value, str(name or ""), file, line)


def is_object(value: Value) -> bool:
    """Whether a value is a Kubernetes object."""
    return isinstance(value, Mapping) and all(isinstance(value.get(key), str) for key in ("apiVersion", "kind"))


def unknown_where(value: Value, is_unknown: Callable[[str], object]) -> Value:
    """A copy in which texts are unknown values where the function says so."""
    if isinstance(value, Mapping):
        return {key: unknown_where(item, is_unknown) for key, item in value.items()}
    if isinstance(value, str):
        return UNKNOWN if is_unknown(value) else value
    return [unknown_where(item, is_unknown) for item in value] if isinstance(value, Sequence) else value
