"""Versions of a model, and how its requests are divided between two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from llmd_gke.settings.sections.adapters import AdapterSettings
from llmd_gke.settings.sections.base import Section, Word

FIRST = "v1"
"""The version whose objects have the names of a model without versions: a model that runs gets versions without losing
its pods."""
DIRECT = "direct"
"""The share of a request that names one version."""


class VersionSettings(Section):
    """What distinguishes a version of a model. A field that it lacks is the model's."""

    name: str
    """Name of the version: lower-case letters, digits and hyphens. ``v1`` is the model as it runs without versions; the
    objects of another version ``v2`` of ``qwen`` are named ``qwen-v2``, and clients can send that name, too."""
    uri: Word | None = None
    """Where its weights are (default: the model's)."""
    image: Word | None = None
    """Container image of its servers (default: the model's)."""
    adapters: tuple[AdapterSettings, ...] | None = Field(default=None, strict=False)
    """Its LoRA adapters, instead of the model's (default: the model's)."""
    extra_args: tuple[str, ...] | None = Field(default=None, strict=False)
    """Its arguments for vLLM, instead of the model's (default: the model's)."""
    pool: str | None = None
    """The pool that it runs on (default: the model's)."""
    replicas: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Number of its servers (default: the model's)."""
    namespace: str | None = None
    """Kubernetes namespace (default: the model's); only with ``frontDoor``, where callers with different priorities
    require one for each version."""

    @property
    def own(self) -> dict[str, object]:
        """The fields that it has of its own, by their names in the model."""
        given = {field: getattr(self, field) for field in self.model_fields_set - {"name"}}
        return {field: value for field, value in given.items() if value is not None}


class RolloutSettings(Section):
    """The part of a model's requests that one of its versions answers; ``llmd-gke rollout`` writes it."""

    to: str
    """The version that requests move to."""
    percent: Annotated[int, Field(ge=0, le=100)]
    """Part of the requests that it answers, 0 to 100."""
    stable: str | None = None
    """The version that answers all others (default: the first other one)."""
    sticky: bool = False
    """Divide callers instead of requests: each caller has one version, and only a larger ``percent`` moves it (default:
    false); only with ``frontDoor``."""


@dataclass(frozen=True, kw_only=True)
class Release:
    """The place of one version among those of a model. ``model`` and ``namespace``: the model's in the settings;
    ``version``: this one's name, ``name`` that of its objects; ``position``: its index; ``shares``: percent of requests
    by the names of the versions' objects, in order; ``stable``: which of these takes all requests that no other takes;
    ``sticky``: whether callers are divided.
    """

    model: str
    namespace: str
    version: str
    name: str
    position: int
    shares: Mapping[str, int]
    stable: str
    sticky: bool

    @property
    def carrier(self) -> str:
        """The version, by the name of its objects, with what the model has once: its path and its place at ``/``."""
        return self.model if self.model in self.shares else next(iter(self.shares))


def object_name(model: str, version: str) -> str:
    """The name of a version's objects."""
    return model if version == FIRST else f"{model}-{version}"


def shares(names: Mapping[str, str], rollout: RolloutSettings | None) -> tuple[str, dict[str, int]]:
    """The stable one, and each one's percent of requests. ``names``: those of the objects by version, at least one.

    What a rollout names in vain, which validation rejects, counts as absent.
    """
    to = None if rollout is None else names.get(rollout.to)
    others = [name for name in names.values() if name != to] or [*names.values()]
    stable = names.get(rollout.stable or "", others[0]) if rollout is not None else others[0]
    percent = rollout.percent if rollout is not None and to not in (None, stable) else 0
    return stable, {name: 100 - percent if name == stable else percent if name == to else 0 for name in names.values()}


def releases(
    model: str, namespace: str, versions: Sequence[VersionSettings], rollout: RolloutSettings | None
) -> list[Release]:
    """The places of the versions of a model, in order."""
    names = {one.name: object_name(model, one.name) for one in versions}
    stable, divided = shares(names, rollout)
    sticky = rollout is not None and rollout.sticky
    return [
        Release(
            model=model,
            namespace=namespace,
            version=one.name,
            name=names[one.name],
            position=position,
            shares=divided,
            stable=stable,
            sticky=sticky,
        )
        for position, one in enumerate(versions)
    ]
