"""``llmd-gke adopt``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from operations.exits import Failed
from operations.options import Output, OutputOption, StackOption
from operations.printing import show
from operations.progress import working
from operations.target import Target, root_folder

PROPOSED = """Then complete Pulumi.{stack}.yaml where `doctor` finds a gap, and run this command again: it makes the \
import list.
  llmd-gke doctor --stack {stack}"""
IMPORTED = """Then
  pulumi stack init {stack}
  pulumi up --stack {stack} --target '**llmd-gke:project:**' --target '**llmd-gke:network:**' \
    --target '**llmd-gke:cluster:**'
  pulumi import --stack {stack} --file import.{stack}.json --generate-code=false
  PULUMI_K8S_ENABLE_PATCH_FORCE=true pulumi up --stack {stack} --policy-pack policies
The variable takes over fields that others have applied, such as kubectl; only this update needs it.
From then on a destroy deletes these models, too; `llmd-gke destroy --stack {stack} --keep-models` leaves them."""


def command(
    stack: StackOption,
    context: Annotated[str, typer.Option("--context", help="Context of kubectl (default: the current one).")] = "",
    output: OutputOption = Output.TABLE,
    *,
    write: Annotated[bool, typer.Option("--write", help="Write the file that is proposed.")] = False,
) -> None:
    """Propose a stack for a cluster that exists: its stack file, then what the engine imports of hand-made models.

    Reads the cluster with kubectl, never a Secret, and changes nothing there. A stack file that is there is never
    changed: the import list, import.STACK.json, is made from it. Exit status 1: something cannot be adopted as it is.
    """
    root = root_folder()
    file, listed = root / f"Pulumi.{stack}.yaml", root / f"import.{stack}.json"
    with working(f"reading the cluster of stack {stack}", quiet_seconds=0):
        target = Target.choose(stack) if file.exists() else None
        if target is not None:
            _ = target.settings  # raises for gaps, before the cluster is read
        from operations.doctor.command import table_of
        from operations.doctor.platform import Live

        live = Live(["--context", context] if context else [])
        if target is None:
            import yaml

            from operations.adopt.propose import stack as propose

            config, results = propose(live, context, stack)
            name, made, then = "stackFile", yaml.safe_dump({"config": config}, sort_keys=False), PROPOSED
        else:
            from operations.adopt.imports import imports
            from operations.doctor.existing import inside
            from operations.record_graph import record

            content, results = imports(record(target).graph, live)
            results = [*inside(target.settings, live), *results]
            name, made, then = "import", json.dumps(content, indent=2) + "\n", IMPORTED
        results += live.refusals()
    if write:
        (listed if target else file).write_text(made)
    findings = [{"what": o.check, "verdict": o.status.value, "said": o.message, "fix": o.fix} for o in results]
    table, fixes = table_of(f"Stack {stack}: what the cluster has", results)
    data = {"stack": stack, name: made, "findings": findings}
    show(output, data, *([] if write else [made]), table, *fixes, then.format(stack=stack))
    if bad := [one for one in results if one.status.value == "failed"]:
        raise Failed(f"{len(bad)} of {len(results)} findings must be resolved before `pulumi up`: see Fixes.")
