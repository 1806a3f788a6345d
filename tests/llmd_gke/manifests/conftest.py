"""A model and its pool, and the container of its server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from llmd_common.problems import SetUpFailed
from llmd_gke.manifests import serving
from llmd_gke.settings import ModelSettings, PoolSettings
from localcloud import binaries

MakeModel = Callable[..., ModelSettings]
MakePool = Callable[..., PoolSettings]


def container(model: ModelSettings, pool: PoolSettings) -> dict[str, Any]:
    """The server's container in the pods of a model on one host."""
    result, _ = cast("Any", serving.runtime_config(model, pool))["spec"]["template"]["containers"]
    return result


def promtool_says(promtool: Path, folder: Path, test: dict[str, Any]) -> str:
    """What promtool says of a test of expressions; empty where all is as expected."""
    file = folder / "test.yaml"
    file.write_text(json.dumps({"fuzzy_compare": True, "evaluation_interval": "1m", "tests": [test]}))
    done = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True, check=False, timeout=120)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.fixture(scope="session")
def promtool() -> Path:
    """The program, which ``make test`` builds."""
    try:
        return binaries.path("promtool")
    except SetUpFailed as problem:
        pytest.skip(str(problem))


@pytest.fixture
def make_model() -> MakeModel:
    def make(**changes: object) -> ModelSettings:
        base = {"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e4", "replicas": 3}
        return ModelSettings.model_validate({**base, **changes})

    return make


@pytest.fixture
def make_pool() -> MakePool:
    def make(**changes: object) -> PoolSettings:
        base = {"name": "v6e4", "machine_type": "ct6e-standard-4t", "topology": "2x2", "max_nodes": 4}
        return PoolSettings.model_validate({**base, **changes})

    return make


@pytest.fixture
def model(make_model: MakeModel) -> ModelSettings:
    return make_model()


@pytest.fixture
def pool(make_pool: MakePool) -> PoolSettings:
    return make_pool()
