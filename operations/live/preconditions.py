"""Checks before an acceptance run creates anything."""

from __future__ import annotations

import json
import time

from llmd_common import child_process
from llmd_common.kubernetes.fields import each, number, text
from operations.exits import NotUp, Refused, SetUpFailed
from operations.live import engine
from operations.live.calls import call
from operations.live.evidence import Step
from operations.options import Cloud
from operations.target import Target


def check_free(target: Target) -> None:
    """Raises ``Refused`` for a stack that is already deployed, even partly: it would be destroyed at the end."""
    count = _resources(target)
    if count:
        raise Refused(
            f"Stack {target.stack} already has {count} resources on {target.cloud.value}; an acceptance run would "
            "destroy them at its end.\nFix: use a separate stack (docs/stacks.md), or destroy this one first: "
            f"{' '.join(engine.down(target))}"
        )


def _resources(target: Target) -> int:
    if target.cloud is not Cloud.GOOGLE:
        from localcloud.workflow import state

        # Without a project folder of its own, nothing was ever created there.
        stored = state.read(target.workdir, target.stack) if (target.workdir.root / "Pulumi.yaml").exists() else None
        return len(stored.urns) if stored else 0
    try:
        done = child_process.run(["pulumi", "stack", "ls", "--json"], folder=target.root, seconds=60)
    except FileNotFoundError:
        raise SetUpFailed(
            "`pulumi` is not on PATH.\nFix: https://www.pulumi.com/docs/install/; to rehearse: --cloud rehearsal"
        ) from None
    if done.returncode:
        raise SetUpFailed(f"Pulumi could not list its stacks: {done.stderr.strip()[:300]}\nFix: pulumi login")
    stacks = each(json.loads(done.stdout))
    found_stack = next((one for one in stacks if text(one, "name").split("/")[-1] == target.stack), None)
    if found_stack is None:
        raise NotUp(f"Stack {target.stack} does not exist in Pulumi's backend.\nFix: pulumi stack init {target.stack}")
    return number(found_stack, "resourceCount") or 0


def check_destroyable(target: Target) -> None:
    """Raises ``Refused`` if the destroy at the end would not be possible."""
    cluster = target.settings.cluster
    if target.cloud is Cloud.GOOGLE and (cluster.protect or cluster.deletion_protection):
        raise Refused(
            f"Pulumi.{target.stack}.yaml protects the cluster (cluster.protect: {str(cluster.protect).lower()}, "
            f"cluster.deletionProtection: {str(cluster.deletion_protection).lower()}), so it could not be destroyed at "
            "the end.\nFix: use a stack with protect: false and deletionProtection: false"
        )


def preflight(target: Target) -> Step:
    """Runs ``doctor``; skipped on clouds where it has nothing to check."""
    if target.cloud is Cloud.REHEARSAL:
        return Step("preflight", "skipped", f"nothing to check: stack {target.stack} is on {target.cloud.value}")
    started = time.monotonic()
    done = call(target, "doctor", "--output", "json")
    took = time.monotonic() - started
    if done.status == 0:
        return Step("preflight", "passed", "doctor found nothing wrong", took)
    return Step("preflight", "failed", f"doctor: {_extract(done.output) or done.end_of_errors}", took)


def _extract(report: str) -> str:
    try:
        findings = each(json.loads(report), "findings")
    except ValueError:
        return ""
    return "; ".join(f"{o['check']}: {o['said']} (fix: {o['fix']})" for o in findings if o["verdict"] == "failed")
