"""The fixture of tests with the engine."""

from tests.real_engine.conftest import engine

__all__ = ["engine"]
