"""``llmd-gke adopt``."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from operations.exits import BadInput, Failed, NotUp, Problem
from operations.options import CloudOption, Output, OutputOption, StackOption
from operations.progress import working

if TYPE_CHECKING:
    from operations.adopt.imports import Imports
    from operations.adopt.live import Live
    from operations.doctor.result import Result

THEN = """Then
  pulumi stack init {stack}
  pulumi up --stack {stack} --target '**llmd-gke:project:**' --target '**llmd-gke:network:**' \
    --target '**llmd-gke:cluster:**'
  pulumi import --stack {stack} --file import.{stack}.json --protect=false --generate-code=false
  llmd-gke doctor --stack {stack}, and pulumi up --stack {stack} --policy-pack policies"""


def command(
    stack: StackOption,
    context: Annotated[str, typer.Option("--context", help="Context of kubectl (default: the current one).")] = "",
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    *,
    write: Annotated[
        bool, typer.Option("--write", help="Write Pulumi.STACK.yaml, unless it is there, and import.STACK.json.")
    ] = False,
) -> None:
    """Propose a stack for a cluster that exists: its stack file, and what the engine imports of hand-made models.

    Reads the cluster with kubectl, never a Secret, and changes nothing there. A stack file that is there is never
    changed: the import list is then made from it. Exit status 1: something cannot be adopted as it is.
    """
    from operations.target import root_folder

    root = root_folder()
    file, listed = root / f"Pulumi.{stack}.yaml", root / f"import.{stack}.json"
    if write and listed.exists():
        raise BadInput(f"{listed.name} is there already, and is never overwritten.\nFix: rm {listed.name}")
    with working(f"reading the cluster of stack {stack}", quiet_seconds=0):
        import yaml

        from operations.adopt.found import refusals
        from operations.adopt.live import Live
        from operations.doctor.command import table_of
        from operations.printing import show

        live = Live(["--context", context] if context else [])
        live.check()
        config, results = _config(live, context, stack, file)
        made = _imports(live, stack, config, _managed(file, stack, cloud), results)
        results += refusals(live)
    text = file.read_text() if file.exists() else yaml.safe_dump({"config": config}, sort_keys=False)
    content = None if made is None else json.dumps(made.file, indent=2)
    if write:
        if not file.exists():
            file.write_text(text)
        if content is not None:
            listed.write_text(content + "\n")
    findings = [{"what": o.check, "verdict": o.status.value, "said": o.message, "fix": o.fix} for o in results]
    data = {"stack": stack, "stackFile": text, "import": None if made is None else made.file, "findings": findings}
    table, fixes = table_of(f"Stack {stack}: what the cluster has", results)
    show(output, data, *([] if write else [text, content or ""]), table, *fixes, THEN.format(stack=stack))
    if bad := [one for one in results if one.status.value == "failed"]:
        raise Failed(f"{len(bad)} of {len(results)} findings must be resolved before `pulumi up`: see Fixes.")


def _config(live: Live, context: str, stack: str, file: Path) -> tuple[Mapping[str, object], list[Result]]:
    from llmd_gke.settings.errors import SettingsError
    from llmd_gke.settings.load import read_config
    from operations.adopt.propose import stack as propose

    if not file.exists():
        made = propose(live, context, stack)
        return made.config, made.results
    try:
        return read_config(file.parent, stack), []
    except SettingsError as error:
        raise BadInput(str(error)) from None


def _imports(
    live: Live, stack: str, config: Mapping[str, object], managed: Collection[str], results: list[Result]
) -> Imports | None:
    """The import list, and its ``results``; ``None`` where the settings have gaps, which the results then name."""
    import os

    from llmd_gke.graph.recording import record
    from llmd_gke.settings import SettingsError, parse, required_secrets
    from operations.adopt.imports import imports
    from operations.doctor.existing import inside
    from operations.doctor.result import failed
    from operations.target import root_folder

    os.environ.setdefault("LLMD_GKE_CLOUD", "rehearsal")
    try:
        settings = parse(config, stack).settings
    except SettingsError as error:
        again = "complete the stack file, and run the command again: it makes the import list"
        results += [failed(one.key, one.finding.problem, one.finding.fix or again) for one in error.findings]
        return None
    results += inside(settings, live)
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
    secrets = dict.fromkeys(required_secrets(settings), "a-stand-in")
    made = imports(record(root_folder(), stack, {**secrets, **texts}, tuple(secrets)), live, managed)
    results += made.results
    return made


def _managed(file: Path, stack: str, cloud: CloudOption) -> Collection[str]:
    """Names of the resources in the stack's state, such as those of an import that was interrupted."""
    from operations import outputs
    from operations.target import Target

    if not file.exists():
        return ()
    try:
        return {name for _, name in outputs.created(Target.choose(stack, cloud, file.parent))}
    except NotUp:
        return ()
    except Problem as problem:
        print(f"What is in the stack's state already is listed, too: {problem}", file=sys.stderr)
        return ()
