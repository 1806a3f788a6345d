"""Expected failures, each with its exit status."""

from __future__ import annotations

from typing import ClassVar


class Problem(Exception):
    """What went wrong, what is allowed and the fix, as the user reads it; never a secret's value."""

    status: ClassVar[int] = 1


class BadInput(Problem):
    """A stack file or setting that cannot be used. Exit status 2, as for a wrong call."""

    status = 2


class SetUpFailed(Problem):
    """The engine could not be found, installed or built. Exit status 3."""

    status = 3


class Refused(Problem):
    """The interlock: continuing could reach a real cloud. Exit status 4."""

    status = 4


class Busy(Problem):
    """Another run uses the same stack or files. Exit status 5."""

    status = 5


class Stale(Problem):
    """Leftovers of an earlier run require a decision. Exit status 6."""

    status = 6
