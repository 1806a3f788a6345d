"""The end of the stack that the other tests used: the last of them (``conftest.py``)."""

from __future__ import annotations

from tests.laptop import objects
from tests.laptop.harness import Laptop

KINDS = "llminferenceservices.serving.kserve.io,gateways.gateway.networking.k8s.io,httproutes.gateway.networking.k8s.io"


def test_destroy_leaves_no_object_waiting_for_a_finalizer(laptop: Laptop) -> None:
    assert objects.every(laptop, KINDS), "there is nothing to destroy, so nothing is shown"
    steps = laptop.steps("destroy", "--yes", "--skip-preview")
    assert set(steps.values()) == {"delete"}
    assert laptop.state() is None or not laptop.state().urns  # pyright: ignore[reportOptionalMemberAccess]
    assert laptop.cloud() == {}
