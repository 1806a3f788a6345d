"""Changes of the settings that a life cycle draws. Each is on or off; a step turns one of them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping
from typing import Any

STACK = "dev"
SECRET_KEY = "llmd-gke:hfToken"

Config = dict[str, Any]


def prepare(config: Config) -> None:
    """The stack before each change: a gated model, hosts that are made at once, room for what follows."""
    pool(config).update(minNodes=1, maxNodes=6)
    _model(config).update(gated=True)


def pool(config: Config) -> Config:
    return config["llmd-gke:pools"][0]


def _model(config: Config) -> Config:
    return config["llmd-gke:models"][0]


def in_pool(**over: object) -> Callable[[Config], None]:
    return lambda config: pool(config).update(over)


def in_model(**over: object) -> Callable[[Config], None]:
    return lambda config: _model(config).update(over)


def in_cluster(**over: object) -> Callable[[Config], None]:
    return lambda config: config["llmd-gke:cluster"].update(over)


def second_model(config: Config) -> None:
    config["llmd-gke:models"].append({**_model(config), "name": "second"})


def second_pool(config: Config) -> None:
    config["llmd-gke:pools"].append({**pool(config), "name": "more"})


def _larger_range(config: Config) -> None:
    config.setdefault("llmd-gke:network", {}).update(nodes="10.0.0.0/19")


def _no_dashboard(config: Config) -> None:
    config["llmd-gke:monitoring"].update(dashboard=False)


CHANGES: Mapping[str, Callable[[Config], None]] = {
    "prompts are shorter": in_model(maxModelLen=2048),
    "two replicas": in_model(replicas=2),
    "the pool may grow": in_pool(maxNodes=8),
    "hosts on demand": in_pool(capacity="on-demand"),
    "a second pool": second_pool,
    "a second model": second_model,
    "a larger range of nodes": _larger_range,
    "stable releases": in_cluster(releaseChannel="STABLE"),
    "signed images only": in_cluster(binaryAuthorization=True),
    "a regional control plane": in_cluster(controlPlane="regional"),
    "no dashboard": _no_dashboard,
}
"""In the order in which they are applied: what follows builds on what comes before."""


ONE_WAY = frozenset({"a larger range of nodes"})
"""Changes that a plan does not take back. A smaller range replaces the cluster by one of the same identity, and the
state then has objects that are gone until a refresh: an open defect (decisions.md, "A replaced cluster")."""


def changed(base: Config, names: Collection[str]) -> Config:
    """The settings with these changes on, and the others off."""
    config = copy.deepcopy(base)
    prepare(config)
    for name, change in CHANGES.items():
        if name in names:
            change(config)
    return config
