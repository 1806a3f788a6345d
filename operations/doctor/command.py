"""``llmd-gke doctor``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from llmd_gke.wording import counted
from operations.doctor.emulator import emulated
from operations.enter_localcloud import enter
from operations.exits import BadInput, Failed, Refused
from operations.options import DEFAULT_STACK, Cloud, CloudOption, Output, OutputOption, StackOption
from operations.printing import show
from operations.progress import working
from operations.target import Target

if TYPE_CHECKING:
    from rich.table import Table

    from operations.doctor.context import Context
    from operations.doctor.result import Result


def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    *,
    probe: Annotated[
        bool, typer.Option("--probe", help="Create one TPU host of each pool for a moment, to detect a stock-out.")
    ] = False,
    zone: Annotated[list[str] | None, typer.Option("--zone", help="Zone for --probe to try; may be repeated.")] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Let --probe spend money without asking for confirmation.")
    ] = False,
) -> None:
    """Find what would make `pulumi up` fail, before anything is created; takes at most a minute without --probe.

    On a laptop cloud it checks only Google's side, by querying the emulator of Google's APIs.

    Checks tools, credentials, project, billing, APIs, permissions, GKE versions, zones, machine types, quotas, the
    network, charts, images and weights. Exit status 1: `pulumi up` would fail.
    """
    if zone and not probe:
        raise BadInput(f"--zone {' '.join(zone)} is for --probe, which is missing.\nFix: add --probe, or remove --zone")
    with working(f"reading stack {stack}", quiet_seconds=0):
        from llmd_gke.settings.load import read_config
        from operations.doctor import run, token
        from operations.doctor.context import Context
        from operations.doctor.result import CheckStatus
        from operations.doctor.sign_in import IMPERSONATE

        target = Target.choose(stack, cloud)
        enter(target, required=False)
        impersonate = read_config(target.root, stack).get(IMPERSONATE)
        account = str(impersonate) if impersonate else None
        context = Context(stack, target.settings, partial(token.read, target), account, _types(target))
    notes: list[str] = []
    if target.cloud is Cloud.REHEARSAL:
        answers = list(run.results(run.CHECKS[0], context))
        notes = [_nothing_asked(target)]
    else:
        zones = zone or []
        if probe and target.cloud is Cloud.GOOGLE:
            consent(context, yes, zones)
        with emulated(target):
            with working("asking Google") as work:
                answers = run.run(context, run.checks(target.cloud), say=work.say)
            if probe:
                answers += _probe(context, answers, zones)
        if target.cloud is Cloud.LAPTOP:
            notes = [LAPTOP]
    bad = [result for result in answers if result.status is CheckStatus.FAILED]
    table, fixes = table_of(f"Stack {stack}: before `pulumi up`", answers)
    findings = [{"check": o.check, "verdict": o.status.value, "said": o.message, "fix": o.fix} for o in answers]
    show(output, {"stack": stack, "findings": findings, "notes": notes}, table, *fixes, *notes)
    if bad:
        raise Failed(f"{len(bad)} of {counted(len(answers), 'finding')} would make `{target.up}` fail: see Fixes.")


LAPTOP = (
    "Answers are from the emulator of Google's APIs, about the resources of the laptop cloud. Not checked, "
    "because the laptop cloud does not need them: tools, credentials, registries and weights."
)


def _nothing_asked(target: Target) -> str:
    """A note on why only this machine was checked, and on how to check Google's side."""
    from llmd_gke.settings.validation import REHEARSAL_PROJECT

    if target.settings.project == REHEARSAL_PROJECT:
        return f"Stack {target.stack} runs on this machine: there is nothing to ask Google about. make status shows it."
    return (
        f"CLOUD={target.cloud} is on this machine, so nothing was asked of Google.\n"
        f"Fix: llmd-gke doctor --stack {target.stack} --cloud google"
    )


def _types(target: Target) -> frozenset[str]:
    if target.cloud is Cloud.REHEARSAL:
        return frozenset()
    from llmd_gke.catalog.permissions import GOOGLE
    from operations.record_graph import record

    try:
        return frozenset(node.type for node in record(target).graph.nodes.values())
    except Failed:  # without a graph: every type that the program may create
        return frozenset([*GOOGLE, "kubernetes:helm.sh/v3:Release"])


def consent(context: Context, yes: bool, zones: Sequence[str] = ()) -> None:
    """Asks for confirmation before money is spent. Raises ``Refused`` without consent."""
    pools = context.settings.node_pools
    hosts = ", ".join(
        f"{pool.machine_type} in {zone}"
        for pool in pools
        if pool.provisioning in ("on-demand", "spot")
        for zone in zones or [pool.zone_in(context.settings.cluster.zone)]
    )
    print(
        f"--probe creates, for about a minute each: {hosts or 'nothing'}. Compute Engine bills at least one minute "
        "per host. In a region without a subnet it also creates a VPC for that time, which costs nothing.",
        file=sys.stderr,
    )
    if yes:
        return
    if not sys.stdin.isatty():
        raise Refused("--probe spends money, and there is no terminal to ask for confirmation.\nFix: add --yes")
    if not typer.confirm("Continue?", err=True):
        raise Refused("Nothing was created.")


def _probe(context: Context, results: list[Result], zones: Sequence[str]) -> list[Result]:
    from operations.doctor.probe import probe, walk
    from operations.doctor.result import CheckStatus, skipped

    lacking = [
        one.check for one in results if one.status is CheckStatus.FAILED and one.check in ("credentials", "project")
    ]
    if lacking:
        return [skipped("capacity", f"needs: {', '.join(lacking)}")]
    answers: list[Result] = []
    for pool in context.settings.pools:
        asked: list[Result] = []
        for one in pool.node_pools:
            for zone in zones or [one.zone_in(context.settings.cluster.zone)]:
                message = f"trying to create a {one.machine_type} for {one.name} in {zone}"
                with working(message, quiet_seconds=0):
                    asked += probe(context, one, zone)
        # The list names a zone for each entry: of other zones it says nothing.
        answers += asked if zones else walk(pool, asked)
    return answers


def table_of(title: str, results: list[Result]) -> tuple[Table, list[str]]:
    """A table of results, and the lines with the fixes below it."""
    from rich.markup import escape
    from rich.table import Table

    from operations.doctor.result import CheckStatus

    colours = {
        CheckStatus.OK: "green",
        CheckStatus.WARNING: "yellow",
        CheckStatus.FAILED: "bold red",
        CheckStatus.SKIPPED: "dim",
    }
    table = Table(title=title, title_justify="left")
    for heading in ("what", "", "seen"):
        table.add_column(heading, no_wrap=heading != "seen", overflow="fold")
    for one in results:
        colour = colours[one.status]
        table.add_row(escape(one.check), f"[{colour}]{one.status}[/{colour}]", escape(one.message))
    fixes = [f"{one.check}: {one.fix}" for one in results if one.fix]
    return table, [*(["Fixes"] if fixes else []), *(f"  {fix}" for fix in fixes)]
