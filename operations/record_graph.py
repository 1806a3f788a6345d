"""The graph of a stack as its program registers it, now."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from operations.exits import Failed
from operations.progress import working
from operations.target import Target

if TYPE_CHECKING:
    from llmd_gke.graph.parts import Parts


def record(target: Target) -> Parts:
    """Runs the program of a stack without an engine. Raises ``BadInput`` for settings that cannot be used.

    Nothing is asked of any cloud, so a stack of any project may be recorded anywhere.
    """
    os.environ.setdefault("LLMD_GKE_CLOUD", "rehearsal")
    _ = target.checked  # every problem of the settings, in words, before the program stumbles over the first
    with working(f"recording the graph of stack {target.stack}"):
        from llmd_gke.graph.parts import Parts
        from llmd_gke.graph.recording import load

        try:
            return Parts(load(target.root, target.stack))
        except Exception as error:  # whatever the program of a change may raise
            raise Failed(
                f"The program of stack {target.stack} failed: {type(error).__name__}: {error}\n"
                f"Fix: make preview STACK={target.stack} says where"
            ) from None
