"""The settings of a stack, checked for the local clouds."""

from __future__ import annotations

import os

from llmd_common.problems import BadInput
from localcloud.common.workdir import CLOUD, Workdir
from localcloud.product.settings import SettingsError, StackSettings, load_stack


def settings_of(workdir: Workdir, stack: str) -> StackSettings:
    """The settings in the stack file. Raises ``BadInput`` with every problem in it."""
    os.environ[CLOUD] = workdir.kind  # the settings reject a rehearsal-only stack elsewhere
    try:
        return load_stack(workdir.root, stack).settings
    except SettingsError as error:
        raise BadInput(str(error)) from None
