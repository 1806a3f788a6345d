"""A configuration that is right, to be spoilt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.settings import Checked, SettingsError, parse
from llmd_gke.settings.load import read_config
from llmd_gke.settings.validation import CLOUD_VARIABLE

HEAD = "Pulumi.eu4a.yaml has 1 problem:\n\n"
"""How the message about one problem begins."""

ROOT = Path(__file__).parents[3]

Config = dict[str, Any]
Refuse = Callable[..., str]
Accept = Callable[..., Checked]


@pytest.fixture(autouse=True)
def no_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """As outside of `make`."""
    monkeypatch.delenv(CLOUD_VARIABLE, raising=False)


@pytest.fixture
def config() -> Config:
    """The configuration of stack `eu4a` without its front door and with a model that fits anywhere."""
    config: Config = read_config(ROOT, "eu4a")
    config["llmd-gke:models"][0]["uri"] = "hf://Qwen/Qwen2.5-3B-Instruct"
    del config["llmd-gke:pools"][0]["diskGb"]
    del config["llmd-gke:frontDoor"]
    config["llmd-gke:gateway"]["open"] = True
    return config


@pytest.fixture
def refused() -> Refuse:

    def message(config: Config, secrets: list[str] | None = None) -> str:
        with pytest.raises(SettingsError) as caught:
            parse(config, "eu4a", secrets)
        return str(caught.value)

    return message


@pytest.fixture
def accepted() -> Accept:

    def checked(config: Config, secrets: list[str] | None = None) -> Checked:
        return parse(config, "eu4a", secrets)

    return checked


@pytest.fixture
def root() -> Path:
    return ROOT
