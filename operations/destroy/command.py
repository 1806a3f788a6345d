"""``llmd-gke destroy``."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from llmd_gke import protection
from llmd_gke.wording import counted
from operations import outputs
from operations.ending_in_order import ending_in_order
from operations.exits import BadInput, Failed, Problem, Refused
from operations.options import DEFAULT_STACK, Cloud, CloudOption, Output, OutputOption, StackOption
from operations.printing import show
from operations.progress import working
from operations.target import Target


@ending_in_order()
def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Destroy without asking for confirmation.")] = False,
    keep_models: Annotated[
        bool, typer.Option(help="Leave the models in the existing cluster, without an owner.")
    ] = False,
) -> None:
    """Destroy a stack, and retry while Google still uses resources that its cluster left behind.

    `pulumi destroy` fails if a network endpoint group of GKE outlives its cluster by some minutes ("already being used
    by"). This command waits 3 to 5 minutes and tries again, four times in total. Groups that GKE has not deleted after
    the first wait are named and deleted. It stops at any other error. Whether everything is destroyed is read from the
    stack's state. Of a stack in a cluster that exists, adopted models are destroyed, too, without --keep-models.

    Exit status 1: some resources remain and may be billed; 4: not confirmed; 130: Ctrl-C, SIGTERM or a closed
    terminal: the message names what remains.
    """
    with working(f"reading stack {stack}", quiet_seconds=0):
        from operations.live import engine, leftovers
        from operations.live.destroying import destroy

        target = Target.choose(stack, cloud)
        command_line = " ".join(engine.down(target))
    if keep_models and not _can_keep(target):
        raise BadInput(f"Stack {stack} destroys KServe, and every model with it.\nFix: leave out --keep-models")
    consent(target, yes, keep_models=keep_models)
    with working(f"reading the state of stack {stack}", quiet_seconds=0) as work:
        if keep_models:
            work.say(f"leaving {', '.join(outputs.keep_models(target)) or 'no model'}")
        refuse_protected(target)
        shared = _kubeconfig_of_shared(target)
    folder = target.root / "live"
    folder.mkdir(exist_ok=True)
    log = folder / f"destroy-{stack}-{datetime.now(UTC):%Y%m%d-%H%M%S}.log"
    again = f"llmd-gke destroy --stack {stack}" + (f" --cloud {cloud.value}" if cloud else "")
    try:
        with working(command_line, quiet_seconds=0) as work:
            outcome = destroy(target, log, work.say)
    except KeyboardInterrupt:
        print(f"\n{_stopped(target)} Log: {log}\nFix: `{again}` continues.", file=sys.stderr)
        raise
    if not outcome.complete:
        users = "".join(f"\n  {line}" for line in outcome.in_use)
        by_hand = (
            "; delete by hand any rule or group that remains for more than an hour (gcloud compute "
            "network-endpoint-groups list, firewall-rules list)"
        )
        raise Failed(
            f"Stack {stack} is not destroyed after {counted(outcome.attempts, 'attempt')} ({outcome.text}); the "
            f"remaining resources may be billed. Log: {log}{users}\nFix: {again}{by_hand if users else ''}"
        )
    stays = "" if shared is None else _without_istio(shared)
    left = leftovers.look(target.settings) if target.cloud is Cloud.GOOGLE else ""
    if left:
        raise Failed(f"Stack {stack} is destroyed, but its cluster left behind: {left}\nFix: delete them with gcloud")
    note = "" if left is not None else "; check with gcloud whether anything is left"
    data = {"stack": stack, "attempts": outcome.attempts, "leftBehind": left, "log": str(log)}
    show(output, data, f"Stack {stack} is destroyed{note}.{stays}")


def _kubeconfig_of_shared(target: Target) -> str | None:
    try:
        settings = target.settings
    except BadInput:  # a destroy reads the state only
        return None
    wanted = target.cloud is Cloud.GOOGLE and settings.cluster.existing is not None and settings.gateway.is_istio
    return outputs.kubeconfig(target) if wanted else None


def _without_istio(kubeconfig: str) -> str:
    from operations.ask.kubectl import by_kubeconfig
    from operations.destroy import istio

    try:
        with working("removing what Istio leaves"), by_kubeconfig(kubeconfig) as kubectl:
            stays = istio.remove(kubectl.options)
    except Problem as problem:
        return f"\nWhat Istio leaves (docs/edge.md) is still in the cluster: {problem}"
    return "".join(f"\nStays in the cluster: {one}" for one in stays)


def refuse_protected(target: Target) -> None:
    """Raises ``Refused`` for a protected stack: a destroy would remove its models before it reached the cluster."""
    if target.cloud is Cloud.GOOGLE and (names := outputs.protected(target)):
        again = f"llmd-gke destroy --stack {target.stack}"
        if target.settings.cluster.existing is not None:
            raise Refused(
                f"Stack {target.stack} has imported {', '.join(names)}, and no `up` has followed. Nothing was "
                f"removed.\nFix: `{again} --keep-models` leaves them as they are"
            )
        raise Refused(protection.refusal(target.stack, names, destroy=again))


def _stopped(target: Target) -> str:
    from operations.live.destroying import named

    try:
        left = outputs.remaining(target)
    except Problem as problem:
        return f"Stack {target.stack} may not be destroyed completely: {problem}"
    return f"Stack {target.stack} is not destroyed: {named(left)}." if left else f"Stack {target.stack} is destroyed."


def consent(target: Target, yes: bool, *, keep_models: bool = False) -> None:
    """Asks for confirmation before anything is destroyed. Raises ``Refused`` without consent or without a terminal."""
    if yes or target.cloud is not Cloud.GOOGLE:
        return
    if not sys.stdin.isatty():
        raise Refused(
            f"There is no terminal to ask for confirmation.\nFix: llmd-gke destroy --stack {target.stack} --yes"
        )
    models = "" if keep_models or not _can_keep(target) else " and its models (--keep-models leaves them)"
    if not typer.confirm(f"Destroy stack {target.stack}{models} in project {target.settings.project}?", err=True):
        raise Refused("Nothing was destroyed.")


def _can_keep(target: Target) -> bool:
    """Whether models can outlive the stack: KServe is in the cluster without it."""
    from llmd_gke.catalog.existing import KSERVE

    return KSERVE in target.settings.existing_controllers
