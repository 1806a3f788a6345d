from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from llmd_gke.settings import StackSettings, parse

MakeStack = Callable[..., StackSettings]

MODEL: Mapping[str, Any] = {"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e1", "replicas": 2}
AUTOSCALED: Mapping[str, Any] = {
    **{key: value for key, value in MODEL.items() if key != "replicas"},
    "minReplicas": 2,
    "maxReplicas": 4,
}
BASE: Mapping[str, Any] = {
    "gcp:project": "my-project",
    "llmd-gke:cluster": {"name": "llmd", "zone": "us-east5-b", "deletionProtection": False},
    "llmd-gke:pools": [{"name": "v6e1", "machineType": "ct6e-standard-1t", "topology": "1x1", "maxNodes": 9}],
    "llmd-gke:gateway": {
        "exposure": "external",
        "open": True,
        "domain": "llm.example.com",
        "tls": {"certificateManager": ["llm-example-com"]},
    },
    "llmd-gke:models": [MODEL],
}


def maker(base: Mapping[str, Any]) -> MakeStack:
    """Makes settings; keywords replace whole keys of the stack file: ``models=[…]``."""

    def make(**changes: object) -> StackSettings:
        config = copy.deepcopy(dict(base))
        config.update({f"llmd-gke:{key}": value for key, value in changes.items()})
        return parse(config, "any").settings

    return make


@pytest.fixture
def make_stack() -> MakeStack:
    return maker(BASE)


@pytest.fixture
def stack(make_stack: MakeStack) -> StackSettings:
    """One model behind an external gateway with HTTPS: every alert exists."""
    return make_stack()
