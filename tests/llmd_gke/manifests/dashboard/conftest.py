"""Settings of stacks, for panels."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from llmd_gke.settings import StackSettings, parse

MakeStack = Callable[..., StackSettings]

BASE: Mapping[str, Any] = {
    "gcp:project": "my-project",
    "llmd-gke:cluster": {"name": "llmd-dev", "zone": "us-east5-b", "deletionProtection": False},
    "llmd-gke:pools": [{"name": "v6e1", "machineType": "ct6e-standard-1t", "topology": "1x1", "maxNodes": 9}],
    "llmd-gke:models": [{"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e1", "replicas": 2}],
}


@pytest.fixture
def make_stack() -> MakeStack:
    """Makes settings; keywords replace whole keys of the stack file: ``models=[…]``."""

    def make(**changes: object) -> StackSettings:
        config = copy.deepcopy(dict(BASE))
        config.update({f"llmd-gke:{key}": value for key, value in changes.items()})
        return parse(config, "dev").settings

    return make


@pytest.fixture
def stack(make_stack: MakeStack) -> StackSettings:
    """One model on hosts of one chip, inside the VPC."""
    return make_stack()
