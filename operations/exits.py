"""Exit statuses of every command, in one place; the same numbers as ``make up`` and ``make down`` leave."""

from __future__ import annotations

from enum import IntEnum

from llmd_gke.problems import BadInput, Busy, Problem, Refused, SetUpFailed, Stale

__all__ = ["BadInput", "Busy", "Exit", "Failed", "NotUp", "Problem", "Refused", "SetUpFailed", "Stale", "Unreachable"]


class Exit(IntEnum):
    """What a command leaves. :data:`MEANINGS` says each in words."""

    DONE = 0
    FAILED = 1
    WRONG_INPUT = 2
    NOT_SET_UP = 3
    REFUSED = 4
    BUSY = 5
    STALE = 6
    NOT_UP = 7
    UNREACHABLE = 8
    STOPPED = 130


MEANINGS: dict[Exit, str] = {
    Exit.DONE: "done, and what was looked at is as it should be",
    Exit.FAILED: "the command did its work and the result is bad: a failed check, request, comparison or engine run",
    Exit.WRONG_INPUT: "wrong call, or settings that cannot be used",
    Exit.NOT_SET_UP: "a program that is needed is not there, or could not be set up",
    Exit.REFUSED: "refused: it could reach a real cloud, or spend money, without consent",
    Exit.BUSY: "another run works on the same thing",
    Exit.STALE: "what an earlier run left behind needs a decision",
    Exit.NOT_UP: "the stack is not up, or lacks the output that is needed",
    Exit.UNREACHABLE: "Google Cloud, the cluster or the gateway did not answer",
    Exit.STOPPED: "stopped by Ctrl-C; nothing was left behind",
}


class Failed(Problem):
    """The command did its work; the result is bad. Exit status 1."""

    status = Exit.FAILED


class NotUp(Problem):
    """There is no such stack in the cloud, or it lacks an output. Exit status 7."""

    status = Exit.NOT_UP


class Unreachable(Problem):
    """Something that has to answer does not. Exit status 8."""

    status = Exit.UNREACHABLE
