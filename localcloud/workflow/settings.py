"""Checks a stack file for the local clouds, and lists the secrets that the stack needs."""

from __future__ import annotations

import os

from llmd_common.problems import BadInput
from localcloud.common.workdir import CLOUD, Workdir
from localcloud.product.settings import SettingsError, load_stack, required_secrets


def secrets_of(workdir: Workdir, stack: str) -> list[str]:
    """Full keys of the secrets that the stack needs. Raises ``BadInput`` with every problem in the stack file."""
    os.environ[CLOUD] = workdir.kind  # the settings reject a rehearsal-only stack elsewhere
    try:
        checked = load_stack(workdir.root, stack)
    except SettingsError as error:
        raise BadInput(str(error)) from None
    return required_secrets(checked.settings)
