"""Errors of the engine, and cause and fix of known errors of Google's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from localcloud.common.workdir import Workdir
from localcloud.product import google_errors
from localcloud.workflow import cloud_files, event_log
from localcloud.workflow.runner import STOPPED
from localcloud.workflow.say import say

NODE_POOL = "gcp:container/nodePool:NodePool"

SUMMARIES = ("preview failed", "update failed", "Resource monitor has terminated, shutting down")
"""Errors that only summarize others and name no resource (``reportExecResult`` in
pulumi/pkg/resource/deploy/deployment_executor.go; ``RunError`` of the SDK in pulumi/runtime/settings.py)."""


CONSEQUENCES = ("context canceled", "program exited with non-zero exit code: 1")
"""Ends of what the engine says of policies and of the program, which it stops because of another error."""

REPEATED = "sdk.helper_schema: "
"""In the first of two errors that the Terraform bridge reports for a failed request; the second names the resource."""


def log(workdir: Workdir) -> Path:
    """The file with the engine's events of the last operation."""
    return workdir.home / "last-events.jsonl"


def errors(events: Path) -> Iterator[str]:
    """The errors in an event log.

    Summaries and repetitions are left out, and errors of attempts that were repeated with success.
    """
    parsed = list(event_log.read(events))
    failed = {_urn(one["resOpFailedEvent"]) for one in parsed if "resOpFailedEvent" in one}
    made = {_urn(one["resOutputsEvent"]) for one in parsed if "resOutputsEvent" in one} - failed
    for one in parsed:
        event = one.get("diagnosticEvent")
        if not event or event.get("severity") != "error" or event.get("urn") in made - {""}:
            continue
        message = str(event["message"])
        if message.strip() not in SUMMARIES and REPEATED not in message:
            yield message


def is_consequence(error: str) -> bool:
    """Whether an error tells only that something was stopped because of another."""
    return error.strip().endswith(CONSEQUENCES)


def _urn(event: dict[str, Any]) -> str:
    return str(event.get("metadata", {}).get("urn", ""))


def say_outcome(workdir: Workdir, stack: str, status: int, console: Console) -> None:
    """Prints Google's errors after an update that ended with that status of the engine."""
    if status == 0:
        _say_pools(workdir, stack, console)
    elif status > 0 and status != STOPPED:
        say_causes(workdir, stack, console)


def say_causes(workdir: Workdir, stack: str, console: Console) -> None:
    """Prints cause and fix of Google's errors in the last operation."""
    pools = list(_pools_in_error(workdir))
    explained = list(google_errors.explained([*(cause for _, cause in pools), *errors(log(workdir))], stack))
    for name, cause in pools:
        say(console, f"\nNode pool {name} is in state ERROR: {cause}")
    for cause, fix in explained:
        where = f" `pulumi` is that of `{workdir.make('shell')}`." if "pulumi " in fix else ""
        say(console, f"\nCause: {cause}.\nFix: {fix}.{where}")


def _say_pools(workdir: Workdir, stack: str, console: Console) -> None:
    """Prints node pools that GKE could not create, although the update succeeded (docs/google-emulator.md)."""
    for name, cause in _pools_in_error(workdir):
        first, again = google_errors.pool_fix(cause, stack), google_errors.pool_again(name, stack)
        shell = workdir.make("shell")
        say(console, f"\nWarning: node pool {name} is in state ERROR: {cause}\nFix: {first}; in `{shell}`: {again}.")


def _pools_in_error(workdir: Workdir) -> Iterator[tuple[str, str]]:
    """Name and reason of each pool in state ERROR. Google has the reason; the provider does not report it."""
    for ident, entry in cloud_files.objects(workdir).items():
        if entry.get("type") == NODE_POOL and entry.get("status") == "ERROR" and entry.get("statusMessage"):
            yield ident.rpartition("/")[2], str(entry["statusMessage"])
