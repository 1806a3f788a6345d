from __future__ import annotations

import pytest

from llmd_gke.settings import StackSettings
from tests.llmd_gke.manifests.alerts.conftest import BASE, MakeStack, maker

CLUSTER = {"name": "llmd-dev", "zone": "us-east5-b", "deletionProtection": False}
INSIDE = {key: value for key, value in BASE.items() if key != "llmd-gke:gateway"} | {"llmd-gke:cluster": CLUSTER}


@pytest.fixture
def make_stack() -> MakeStack:
    return maker(INSIDE)


@pytest.fixture
def stack(make_stack: MakeStack) -> StackSettings:
    """One model on hosts of one chip, inside the VPC."""
    return make_stack()
