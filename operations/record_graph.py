"""The graph of a stack, recorded by running its program without an engine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from operations.exits import Failed
from operations.progress import working
from operations.target import Target

if TYPE_CHECKING:
    from llmd_gke.graph.parts import Parts

STAND_IN = "a-stand-in"


def record(target: Target) -> Parts:
    """Runs the program of a stack without an engine. Raises ``BadInput`` for settings that cannot be used.

    No cloud is called, so a stack of any project can be recorded anywhere; missing secrets get a placeholder.
    """
    os.environ.setdefault("LLMD_GKE_CLOUD", "rehearsal")
    _ = target.checked  # reports every problem of the settings, before the program fails at the first
    with working(f"recording the graph of stack {target.stack}"):
        from pulumi import RunError

        from llmd_gke.graph.parts import Parts
        from llmd_gke.graph.recording import load
        from llmd_gke.settings import required_secrets
        from llmd_gke.settings.load import read_config
        from llmd_gke.settings.secret_keys import CALLER_KEYS, NAMESPACE

        try:
            made_up = f"{NAMESPACE}:{CALLER_KEYS}"  # `load` makes one up for each caller
            missing = [key for key in required_secrets(target.settings) if key != made_up]
            stand_ins = dict.fromkeys(missing, STAND_IN)
            present = read_config(target.root, target.stack)
            return Parts(load(target.root, target.stack, changes={**stand_ins, **present}))
        except Exception as error:  # the program of a change may raise anything
            what = str(error) if isinstance(error, RunError) else f"{type(error).__name__}: {error}"
            raise Failed(
                f"The program of stack {target.stack} failed: {what}\nFix: make preview STACK={target.stack} shows "
                "where"
            ) from None
