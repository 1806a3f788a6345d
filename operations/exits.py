"""Exit statuses of every command, in one place; ``make up`` and ``make down`` use the same."""

from __future__ import annotations

from enum import IntEnum

from llmd_common.problems import BadInput, Busy, Problem, Refused, SetUpFailed, Stale, Unreachable

__all__ = ["BadInput", "Busy", "Exit", "Failed", "NotUp", "Problem", "Refused", "SetUpFailed", "Stale", "Unreachable"]


class Exit(IntEnum):
    """Exit statuses of commands. :data:`MEANINGS` describes each."""

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
    Exit.DONE: "success, and everything that was checked is as expected",
    Exit.FAILED: "the command completed, but the result is bad: a failed check, request, comparison or engine run",
    Exit.WRONG_INPUT: "invalid arguments, or invalid settings",
    Exit.NOT_SET_UP: "a required program is missing, or could not be set up",
    Exit.REFUSED: "rejected: the command could reach a real cloud, or spend money, without consent",
    Exit.BUSY: "another run is using the same stack or files",
    Exit.STALE: "leftovers of an earlier run require a decision",
    Exit.NOT_UP: "the stack is not up, or lacks a required output",
    Exit.UNREACHABLE: "Google Cloud, the cluster or the gateway did not answer",
    Exit.STOPPED: "stopped with Ctrl-C, SIGTERM or a closed terminal; the message names what is left, if anything",
}


class Failed(Problem):
    """The command ran to its end, with a bad result. Exit status 1."""

    status = Exit.FAILED


class NotUp(Problem):
    """The stack does not exist in the cloud, or it lacks an output. Exit status 7."""

    status = Exit.NOT_UP
