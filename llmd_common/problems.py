"""Expected failures, each with its exit status."""

from __future__ import annotations

from typing import ClassVar


class Problem(Exception):
    """An expected failure. Its text is for the user: the problem, what is allowed and the fix; never a secret's
    value.
    """

    status: ClassVar[int] = 1


class BadInput(Problem):
    """An invalid stack file or setting. Exit status 2, as for wrong usage."""

    status = 2


class SetUpFailed(Problem):
    """A program that a command needs is missing and could not be set up. Exit status 3."""

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


class Unreachable(Problem):
    """A required service does not answer. Exit status 8."""

    status = 8
