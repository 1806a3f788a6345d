"""Runs the checks at the same time, within a time limit, and gives their results in a fixed order."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from operations.doctor import availability, downloads, existing, network, node_pools, project, quota, sign_in, tools
from operations.doctor.context import Context
from operations.doctor.google import ApiOff, Denied, GoogleRequestError, NoAnswer
from operations.doctor.result import CheckStatus, Result, failed, skipped
from operations.options import Cloud

LIMIT_SECONDS = 60.0

Function = Callable[[Context], Iterator[Result]]


@dataclass(frozen=True)
class Check:
    """A check. ``name`` is shown if it cannot be made; ``google``: it calls Google's APIs, so it needs credentials."""

    name: str
    function: Function
    google: bool = True


CHECKS: tuple[Check, ...] = (
    Check("python", tools.python, google=False),
    Check("pulumi", tools.pulumi, google=False),
    Check("gke-gcloud-auth-plugin", tools.auth_plugin, google=False),
    Check("gcloud, kubectl", tools.optional, google=False),
    Check(sign_in.CHECK, sign_in.sign_in),
    Check("project", project.project),
    Check("billing", project.billing),
    Check("APIs", project.services),
    Check("permissions", project.permissions),
    Check("GKE version", availability.gke_version),
    Check(existing.CHECK, existing.cluster),
    Check("zone", availability.zones),
    Check("machine type", availability.machine_types),
    Check(quota.CHIPS, quota.chips),
    Check("quota of the region", quota.regional),
    Check("quota of the project", quota.in_project),
    Check("network", network.network),
    Check(node_pools.CHECK, node_pools.check),
    Check("charts", downloads.charts, google=False),
    Check("images", downloads.images, google=False),
    Check("weights", downloads.weights, google=False),
)


def checks(cloud: Cloud) -> tuple[Check, ...]:
    """The checks that apply to a cloud: a laptop cloud handles sign-in, builds and downloads itself."""
    if cloud is not Cloud.LAPTOP:
        return CHECKS
    return (CHECKS[0], *(check for check in CHECKS if check.google and check.name != sign_in.CHECK))


def run(
    context: Context,
    checks: Sequence[Check] = CHECKS,
    *,
    limit_seconds: float = LIMIT_SECONDS,
    say: Callable[[str], None] = lambda _: None,
) -> list[Result]:
    """Every check's results, in the order of ``checks``. Never raises for an answer of Google's.

    A check that has not ended after ``limit_seconds`` is reported as failed. ``say`` gets the names of the checks that
    still run.
    """
    ends = time.monotonic() + limit_seconds
    done: queue.SimpleQueue[tuple[int, list[Result]]] = queue.SimpleQueue()
    login = list(project.credentials(context))
    refused = any(result.status is CheckStatus.FAILED for result in login)
    by_check: dict[int, list[Result]] = {}
    for index, check in enumerate(checks):
        if check.google and refused:
            by_check[index] = [skipped(check.name, "needs credentials")]
            continue
        # Daemon threads: a request without an answer must not delay the end of the command.
        threading.Thread(target=_one, args=(done, index, check, context), daemon=True).start()
    while len(by_check) < len(checks):
        waiting = [check.name for index, check in enumerate(checks) if index not in by_check]
        say(f"{len(by_check)} of {len(checks)} checks done; waiting for {', '.join(waiting[:4])}")
        try:
            index, answers = done.get(timeout=max(0.0, ends - time.monotonic()))
        except queue.Empty:
            late = f"no answer within {limit_seconds:g} s"
            fix = "check the network, then run the command again"
            by_check |= {i: [failed(check.name, late, fix)] for i, check in enumerate(checks) if i not in by_check}
            break
        by_check[index] = answers
    return login + [result for index in sorted(by_check) for result in by_check[index]]


def _one(done: queue.SimpleQueue[tuple[int, list[Result]]], index: int, check: Check, context: Context) -> None:
    done.put((index, results(check, context)))


def results(check: Check, context: Context) -> list[Result]:
    """The results of one check; an error of Google's becomes a result, too."""
    try:
        return list(check.function(context))
    except ApiOff as error:
        api = f"{error.api}.googleapis.com"
        message = f"cannot be checked: {api} is disabled"
        fix = f"gcloud services enable {api} --project {context.settings.project}"
    except Denied as error:
        message, fix = f"the caller lacks permission: {error}", "ask an owner of the project for roles/viewer"
    except NoAnswer as error:
        message, fix = str(error), "try again later: https://status.cloud.google.com"
    except GoogleRequestError as error:
        message, fix = str(error), "check the settings that the message names"
    except Exception as error:  # a defect in one check must not hide the results of the others
        message = f"this check failed: {type(error).__name__}: {error}"
        fix = "please report this bug; the other findings are valid"
    return [failed(check.name, message, fix)]
