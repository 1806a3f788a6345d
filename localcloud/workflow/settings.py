"""The settings of a stack, checked for the local clouds."""

from __future__ import annotations

import os

from localcloud.common.workdir import CLOUD, Workdir
from localcloud.product.settings import StackSettings, load_stack


def settings_of(workdir: Workdir, stack: str) -> StackSettings:
    """The settings in the stack file. Raises ``BadInput`` with every problem in it."""
    os.environ[CLOUD] = workdir.kind  # the settings reject a rehearsal-only stack elsewhere
    return load_stack(workdir.root, stack).settings
