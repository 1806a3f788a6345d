"""``llmd-gke dashboard``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from operations.options import DEFAULT_STACK, Cloud, CloudOption, Output, OutputOption, StackOption

if TYPE_CHECKING:
    from operations.target import Target

OUTPUT = "dashboardUrl"
"""The stack's output with the link."""


def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the link in the browser as well.")] = False,
    grafana: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the same panels as a file that Grafana imports; `-` prints it."),
    ] = None,
) -> None:
    """Print the link to the stack's dashboard in the Google Cloud console, or write its panels as a Grafana file.

    The link comes from the outputs of a stack that is up. The Grafana file is made from the settings alone: nothing has
    to be up.
    """
    from operations.progress import working

    if grafana is not None:
        with working(f"reading the settings of stack {stack}", quiet_seconds=0):
            text, name = _grafana(stack, cloud, open_=open_)
        if str(grafana) == "-":
            print(text, end="")
            return
        _write(grafana, text)
        from operations.printing import show

        show(output, {"stack": stack, "file": str(grafana), "title": name}, f"Wrote {grafana}: {name}")
        return
    with working(f"reading the outputs of stack {stack}", quiet_seconds=0):
        from operations.target import Target

        target = Target.choose(stack, cloud)
        link = _link(target)
    from operations.printing import show

    show(output, {"stack": stack, "cloud": target.cloud.value, "url": link}, link)
    if open_:
        _open(target, link)


def _grafana(stack: str, cloud: Cloud | None, *, open_: bool) -> tuple[str, str]:
    from llmd_gke.manifests.dashboard import grafana
    from operations.exits import BadInput
    from operations.target import Target

    if open_:
        raise BadInput("--open opens the link, and --grafana writes a file.\nFix: call the command twice")
    made = grafana.dashboard(Target.choose(stack, cloud).settings)
    return json.dumps(made, indent=2) + "\n", str(made["title"])


def _write(file: Path, text: str) -> None:
    from operations.exits import BadInput

    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(
            f"--grafana {file}: {error.strerror}\nFix: name a file in a folder that exists and may be written to"
        ) from None


def _link(target: Target) -> str:
    """Raises ``NotUp`` where the stack is not up or has no dashboard."""
    from operations import outputs
    from operations.exits import NotUp

    values = outputs.read(target).values
    if link := values.get(OUTPUT):
        return str(link)
    if not target.settings.monitoring.dashboard:
        raise NotUp(
            f"Stack {target.stack} has no dashboard: llmd-gke:monitoring has `dashboard: false`.\n"
            f"Fix: set it to true in Pulumi.{target.stack}.yaml, then {target.up}; "
            "or import the panels into Grafana: --grafana FILE"
        )
    raise NotUp(
        f"Stack {target.stack} on {target.cloud} has no output {OUTPUT}: it was brought up by a version without "
        f"dashboards, or only in part.\nFix: {target.up}"
    )


def _open(target: Target, link: str) -> None:
    import webbrowser

    from operations.exits import SetUpFailed

    if target.cloud is not Cloud.GOOGLE:
        from operations.exits import BadInput

        raise BadInput(
            f"--open: stack {target.stack} is in the {target.cloud} of this machine, which has no console.\n"
            "Fix: import the panels into Grafana: --grafana FILE"
        )
    if not webbrowser.open(link):
        raise SetUpFailed("There is no browser that could be opened here.\nFix: open the link above yourself")
