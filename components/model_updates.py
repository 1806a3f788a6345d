"""What an update of a model says: how long it takes to replace pods, and what to do where it fails."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pulumi

from components.retries import retry
from llmd_gke.settings import ModelSettings

NOT_TAKEN_YET = re.compile(r"had an apply conflict|spec\.template\.spec\.containers: required value")
"""Errors of a Deployment's patch that comes before KServe has changed or created the Deployment."""


def replaced_pods(
    model: str, longest: str, *, no_spare_host_in: str | None = None
) -> Callable[[pulumi.ResourceHookArgs], None]:
    """Says that an update of the model's runtime or service replaces its pods, and for how long the program waits for
    it at most; warns about a pool that has no spare host for that.

    KServe starts the new pod before it ends an old one. Replicas and the endpoint picker change without that.
    """

    def say(args: pulumi.ResourceHookArgs) -> None:
        if _of_pods(args.old_inputs) == _of_pods(args.new_inputs):
            return
        if no_spare_host_in is None:
            pulumi.log.info(
                f"model {model}: this change replaces its pods, and the update waits until all new ones are ready, at "
                f"most {longest}. Old ones serve until then, also after Ctrl+C, which ends the wait."
            )
            return
        pulumi.log.warn(
            f"model {model}: its pods are replaced by this change, and pool {no_spare_host_in} has no spare host "
            "(updatesNeedStop): a new pod would wait for a host that the old one keeps, and the program would fail "
            f"after {longest}.\n"
            f"Fix: set `stopped: true` for {model} and run `pulumi up`; then make the change, remove `stopped` and "
            "run it again (docs/pools.md)."
        )

    return say


def hint(model: ModelSettings, errors: Sequence[str]) -> str | None:
    """Advice if a service did not become Ready in time; ``None`` for other failures.

    ``errors`` are those of all attempts so far, the newest first.
    """
    newest = errors[0].lower() if errors else ""
    if model.wait_for != "ready" or not any(sign in newest for sign in ("timed out", "timeout", "deadline exceeded")):
        return None
    return (
        f"{model.name} was not Ready in time. Run: kubectl -n {model.namespace} get llminferenceservice "
        f"{model.name} -o yaml. If WorkloadsReady is True but InferencePoolReady or HTTPRoutesReady is not, the "
        f"pods serve, but KServe cannot read the status that GKE reports for pool or route: set `waitFor: "
        f"workloads` for {model.name}, run `pulumi up` again, and check the endpoint with `llmd-gke smoke`."
    )


def failed_service(model: ModelSettings) -> Callable[[pulumi.ErrorHookArgs], bool]:
    """Called by the engine after the service failed: logs the advice, and never retries."""

    def answer(args: pulumi.ErrorHookArgs) -> bool:
        if (warning := hint(model, args.errors)) is not None:
            pulumi.log.warn(warning)
        return False

    return answer


def failed_rollout(model: ModelSettings) -> Callable[[pulumi.ErrorHookArgs], Awaitable[bool]]:
    """Called by the engine after the patch of a model's Deployment failed: waits for KServe to change the Deployment,
    and says what to do if its pods do not become ready.
    """

    def advise() -> None:
        pulumi.log.warn(
            f"model {model.name}: its new pods did not become ready, and the old ones go on serving. The error has the "
            "last lines of the new server. Correct the settings and run `pulumi up` again."
        )

    return retry("KServe has not changed the Deployment yet", NOT_TAKEN_YET, otherwise=advise)


def _of_pods(inputs: Mapping[str, Any] | None) -> object:
    """The annotations of the pods, which contain the digests of what they are made of (``manifests/serving.py``)."""
    spec: Mapping[str, Any] = (inputs or {}).get("spec") or {}
    return spec.get("annotations")
