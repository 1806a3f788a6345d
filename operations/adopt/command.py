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
    file, list_ = root / f"Pulumi.{stack}.yaml", root / f"import.{stack}.json"
    if write and list_.exists():
        raise BadInput(
            f"{list_.name} is there already, and is never overwritten.\nFix: rm {list_.name}, then run it again"
        )
    with working("reading the cluster", quiet_seconds=0):
        from operations.adopt import found
        from operations.adopt.live import Live

        live = Live(["--context", context] if context else [])
        live.check()
        config, results = _config(live, context, stack, file)
    import yaml

    text = file.read_text() if file.exists() else yaml.safe_dump({"config": config}, sort_keys=False)
    list_made, more = _imports(live, root, stack, config, cloud)
    results += [*more, *found.refusals(live)]
    if write:
        if not file.exists():
            file.write_text(text)
        if list_made is not None:
            list_.write_text(json.dumps(list_made.file, indent=2) + "\n")
    _show(output, stack, text, list_made, results, write=write)
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
    live: Live, root: Path, stack: str, config: Mapping[str, object], cloud: CloudOption
) -> tuple[Imports | None, list[Result]]:
    """The import list; ``None`` where the settings have gaps, which the results then name."""
    import os

    from llmd_gke.graph.recording import record
    from llmd_gke.manifests.routing import gateway_class
    from llmd_gke.settings import SettingsError, parse, required_secrets
    from operations.adopt import found
    from operations.adopt.imports import imports
    from operations.doctor.result import failed

    os.environ.setdefault("LLMD_GKE_CLOUD", "rehearsal")
    try:
        settings = parse(config, stack).settings
    except SettingsError as error:
        again = "complete the stack file, and run the command again: it makes the import list"
        return None, [failed(one.key, one.finding.problem, one.finding.fix or again) for one in error.findings]
    chosen = settings.existing_controllers
    door, scaled = settings.front_door is not None, settings.scales_by("keda")
    results = [
        *found.gateway_api(live, gateway_class(settings.gateway)),
        *found.parts(live, chosen, door=door, scaled=scaled),
    ]
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
    secrets = dict.fromkeys(required_secrets(settings), "a-stand-in")
    graph = record(root, stack, {**secrets, **texts}, tuple(secrets))
    made = imports(graph, live, _managed(root, stack, cloud))
    return made, [*results, *made.results]


def _managed(root: Path, stack: str, cloud: CloudOption) -> Collection[str]:
    """Names of the resources in the stack's state, such as those of an import that was interrupted."""
    from operations import outputs
    from operations.target import Target

    if not (root / f"Pulumi.{stack}.yaml").exists():
        return ()
    try:
        return {name for _, name in outputs.created(Target.choose(stack, cloud, root))}
    except NotUp:
        return ()
    except Problem as problem:
        print(f"The stack's state was not read, so what is in it is listed, too: {problem}", file=sys.stderr)
        return ()


def _show(output: Output, stack: str, text: str, made: Imports | None, results: list[Result], *, write: bool) -> None:
    from operations.doctor.command import table_of
    from operations.printing import show

    findings = [{"what": o.check, "verdict": o.status.value, "said": o.message, "fix": o.fix} for o in results]
    content = None if made is None else made.file
    data = {"stack": stack, "stackFile": text, "import": content, "findings": findings}
    table, fixes = table_of(f"Stack {stack}: what the cluster has", results)
    then = [
        "Then",
        f"  pulumi stack init {stack}",
        f"  pulumi up --stack {stack} --target '**::cluster-kubernetes' --target '**::cluster'",
        f"  pulumi import --stack {stack} --file import.{stack}.json --protect=false --generate-code=false",
        f"  llmd-gke doctor --stack {stack}, and pulumi up --stack {stack} --policy-pack policies",
    ]
    proposed = [] if write else [text, *([] if content is None else [json.dumps(content, indent=2)])]
    show(output, data, *proposed, table, *fixes, *then)
