"""Whether a model of a stack limits the requests in flight, and the endpoint picker that is built for it."""

from __future__ import annotations

from typing import cast

from llmd_common.problems import BadInput
from localcloud.common.workdir import Workdir
from localcloud.product.settings import SettingsError, read_config
from localcloud.workflow.local_settings import FRONT_DOOR, MODELS

PROGRAMS = ("counting-picker",)
"""What is built."""


def asked(workdir: Workdir, stack: str) -> bool:
    """Whether a model has ``scheduler.saturation.maxConcurrency``, or ``maxNumSeqs``, which takes its place where
    callers have different priorities. Raises ``BadInput`` for a stack file that cannot be read.
    """
    try:
        config = read_config(workdir.root, stack)
    except SettingsError as error:
        raise BadInput(str(error)) from None
    priorities = {str(_value(caller, "priority") or 0) for caller in _listed(_value(config.get(FRONT_DOOR), "callers"))}
    limits = [("scheduler", "saturation", "maxConcurrency"), *([("maxNumSeqs",)] if len(priorities) > 1 else [])]
    models = _listed(config.get(MODELS))
    return any(_value(model, *limit) is not None for model in models for limit in limits)


def _listed(given: object) -> list[object]:
    return cast("list[object]", given) if isinstance(given, list) else []


def _value(given: object, *keys: str) -> object:
    for key in keys:
        given = cast("dict[str, object]", given).get(key) if isinstance(given, dict) else None
    return given
