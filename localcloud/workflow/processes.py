"""The processes that belong to a rehearsal, found by their environment."""

from __future__ import annotations

import os

import psutil
from rich.console import Console

from localcloud.common.workdir import Workdir
from localcloud.workflow.say import say

MARKS = (
    "localcloud.providers.",
    "localcloud.google_api.",
    "pulumi-language-python",
    "pulumi-resource-",
    "pulumi.policy",
)
ENGINE = "pulumi"


def left_over(workdir: Workdir) -> list[psutil.Process]:
    """Running providers, language hosts, programs and policy packs of this rehearsal."""
    return [one for one in _ours(workdir) if any(mark in word for word in _arguments_of(one) for mark in MARKS)]


def engines(workdir: Workdir) -> list[psutil.Process]:
    """Running engines of this rehearsal."""
    return [one for one in _ours(workdir) if _arguments_of(one) and os.path.basename(_arguments_of(one)[0]) == ENGINE]  # noqa: PTH119


def show(workdir: Workdir, console: Console) -> None:
    """Prints how many of both there are."""
    say(console, f"running  {len(engines(workdir)) + len(left_over(workdir))} processes")


def end(processes: list[psutil.Process]) -> None:
    """Sends SIGTERM to ``processes``, and SIGKILL to those that run five seconds later."""
    for one in processes:
        _quietly(one.terminate)
    _, alive = psutil.wait_procs(processes, timeout=5)
    for one in alive:
        _quietly(one.kill)
    psutil.wait_procs(alive, timeout=5)


def _ours(workdir: Workdir) -> list[psutil.Process]:
    processes: list[psutil.Process] = []
    for one in psutil.process_iter():
        if one.pid == os.getpid():
            continue
        try:
            if one.environ().get("LLMD_GKE_HOME") == str(workdir.home) and one.status() != psutil.STATUS_ZOMBIE:
                processes.append(one)
        except psutil.Error:  # ended in the meantime, or another user's
            continue
    return processes


def _arguments_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _quietly(action: object) -> None:
    try:
        if callable(action):
            action()
    except psutil.Error:
        pass
