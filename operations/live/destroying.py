"""Destroys a stack while resources that its cluster left behind still exist."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from llmd_gke.wording import counted
from operations import outputs
from operations.exits import Problem
from operations.live import engine, leftovers
from operations.options import Cloud
from operations.target import Target

IN_USE = "already being used by"
"""Compute Engine's error for a network or subnet that is in use (``RESOURCE_IN_USE_BY_ANOTHER_RESOURCE``).

GKE deletes network endpoint groups and firewall rules some minutes after their cluster. The provider makes one attempt
(hashicorp/terraform-provider-google ``google/services/compute/resource_compute_network.go`` @e03b7622): no timeout of a
resource causes another attempt.
"""

PAUSES_SECONDS = (180, 240, 300)
GKES_TURN = 1
"""Number of attempts after which GKE's endpoint groups are deleted: after the first, GKE may still be at it."""

DESTROY_SECONDS = 60 * 60

MOST_NAMED = 10
"""Number of remaining resources that a message names."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class DestroyOutcome:
    """``status`` of the last attempt, and the number of attempts. ``in_use``: the resources in the last attempt's
    error. ``left``: names of what the stack's state still contains.
    """

    status: int
    attempts: int
    in_use: list[str] = field(default_factory=list[str])
    left: list[str] = field(default_factory=list[str])

    @property
    def complete(self) -> bool:
        """Whether everything is destroyed, which the status does not say: a cancelled engine also ends with 0."""
        return not self.status and not self.left

    @property
    def text(self) -> str:
        """What the engine said, and what is left."""
        return f"status {self.status}" + (f", {named(self.left)}" if self.left else "")


def named(left: Sequence[str]) -> str:
    """Number and first names of remaining resources, the newest first."""
    names = [*left[::-1][:MOST_NAMED], *(["..."] if len(left) > MOST_NAMED else [])]
    return f"{counted(len(left), 'resource')} left in the state: {', '.join(names)}"


def destroy(target: Target, log: Path, say: Say, *, pause: Callable[[float], object] = time.sleep) -> DestroyOutcome:
    """Destroys a stack. Waits and tries again if Google's only error is "already being used by", and deletes the
    endpoint groups that GKE has not deleted after the first wait.

    On local clouds the pauses are short, and nothing is deleted.
    """
    short = target.cloud is not Cloud.GOOGLE
    attempt = 0
    while True:
        attempt += 1
        before = log.stat().st_size if log.exists() else 0
        status = engine.run(engine.down(target), target, log, DESTROY_SECONDS, lambda line: say(f"destroy: {line}"))
        with log.open(encoding="utf-8") as file:
            file.seek(before)
            users = [line.strip() for line in file if IN_USE in line]
        if status == 0 or not users or attempt > len(PAUSES_SECONDS):
            return DestroyOutcome(status, attempt, users, _left(target, status))
        if attempt > GKES_TURN and not short:
            leftovers.delete_groups(target.settings, users, say)
        seconds = PAUSES_SECONDS[attempt - 1] / (60 if short else 1)
        say(f"Google still uses resources that the cluster left; attempt {attempt + 1} in {seconds:g} s")
        pause(seconds)


def _left(target: Target, status: int) -> list[str]:
    """What is left; raises ``Problem`` if that cannot be read and no failure (``status``) tells that something is."""
    try:
        return outputs.remaining(target)
    except Problem:
        if not status:
            raise
        return []
