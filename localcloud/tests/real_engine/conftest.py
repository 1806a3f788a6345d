"""The fixtures of the product's tests with the engine."""

from tests.real_engine.conftest import (
    brought_up,
    engine,
    pytest_collection_modifyitems,
    rehearsal,
    running,
    small,
    small_brought_up,
    small_running,
)

__all__ = [
    "brought_up",
    "engine",
    "pytest_collection_modifyitems",
    "rehearsal",
    "running",
    "small",
    "small_brought_up",
    "small_running",
]
