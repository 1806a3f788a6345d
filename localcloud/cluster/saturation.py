"""Whether a model of a stack limits the requests in flight, and the endpoint picker that is built for it."""

from __future__ import annotations

from typing import cast

from llmd_common.problems import BadInput
from localcloud.common.workdir import Workdir
from localcloud.product.settings import SettingsError, read_config
from localcloud.workflow.local_settings import MODELS

PROGRAMS = ("counting-picker",)
"""What is built."""


def asked(workdir: Workdir, stack: str) -> bool:
    """Whether a model has ``scheduler.saturation.maxConcurrency``. Raises ``BadInput`` for a stack file that cannot be
    read.
    """
    try:
        models = read_config(workdir.root, stack).get(MODELS)
    except SettingsError as error:
        raise BadInput(str(error)) from None
    listed = cast("list[object]", models) if isinstance(models, list) else []
    return any(_value(model, "scheduler", "saturation", "maxConcurrency") is not None for model in listed)


def _value(given: object, *keys: str) -> object:
    for key in keys:
        given = cast("dict[str, object]", given).get(key) if isinstance(given, dict) else None
    return given
