"""What a stack file asks for, before its settings are judged: values of another type count as absent."""

from __future__ import annotations

from typing import cast

from llmd_common.problems import BadInput
from localcloud.common.workdir import Workdir
from localcloud.product.settings import SettingsError, read_config
from localcloud.workflow.local_settings import MODELS, Config


def read(workdir: Workdir, stack: str) -> Config:
    """Its keys with their values. Raises ``BadInput`` for a file that cannot be read."""
    try:
        return {**read_config(workdir.root, stack)}
    except SettingsError as error:
        raise BadInput(str(error)) from None


def table(given: object) -> Config:
    """A value that is a table; otherwise an empty one."""
    return cast("Config", given) if isinstance(given, dict) else {}


def tables(given: object) -> list[Config]:
    """The tables in a list."""
    return [table(one) for one in cast("list[object]", given)] if isinstance(given, list) else []


def models(workdir: Workdir, stack: str) -> list[Config]:
    """The settings of its models. Raises ``BadInput`` for a file that cannot be read."""
    return tables(read(workdir, stack).get(MODELS))
