"""``llmd-gke dashboard``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from operations import outputs
from operations.enter_localcloud import enter, starting
from operations.exits import BadInput, NotUp, SetUpFailed
from operations.options import DEFAULT_STACK, Cloud, CloudOption, Output, OutputOption, StackOption
from operations.printing import show
from operations.progress import working
from operations.target import Target

OUTPUT = "dashboardUrl"


def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    *,
    open_: Annotated[bool, typer.Option("--open", help="Open the link in the browser as well.")] = False,
    grafana: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the same panels as a file that Grafana imports; `-` prints it."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the panels with their numbers as SVG; `-` prints it.")
    ] = None,
    minutes: Annotated[float, typer.Option(min=1, max=60 * 24 * 31, help="How far back --picture goes.")] = 60,
) -> None:
    """Print the link to the stack's dashboard in the Google Cloud console, or write its panels as a file.

    The link is an output of a deployed stack. The Grafana file is generated from the settings alone, so the stack does
    not have to be up. The picture is drawn from the answers of managed Prometheus, or of the laptop cloud's Prometheus.
    """
    _one_thing(open_, grafana, picture)
    if picture is not None:
        _draw(picture, stack, cloud, minutes, output)
        return
    if grafana is not None:
        with working(f"reading the settings of stack {stack}", quiet_seconds=0):
            text, name = _grafana(stack, cloud)
        _write("--grafana", grafana, text, stack=stack, title=name, output=output)
        return
    with working(f"reading the outputs of stack {stack}", quiet_seconds=0):
        target = Target.choose(stack, cloud)
        link = _link(target)
    show(output, {"stack": stack, "cloud": target.cloud.value, "url": link}, link)
    if open_:
        _open(target, link)


def _one_thing(open_: bool, grafana: Path | None, picture: Path | None) -> None:
    given = {"--open": open_, "--grafana": grafana is not None, "--picture": picture is not None}
    names = [name for name, is_given in given.items() if is_given]
    if len(names) > 1:
        raise BadInput(f"{' and '.join(names)} cannot be combined.\nFix: run the command once for each")


def _draw(picture: Path, stack: str, cloud: Cloud | None, minutes: float, output: Output) -> None:
    with starting(f"asking for the metrics of stack {stack}"):
        target = Target.choose(stack, cloud)
        enter(target)
        from llmd_gke.manifests.dashboard import google, sections
        from operations.dashboard import picture as drawing
        from operations.dashboard import queries

        series, span = queries.of(target, minutes)
        title = google.name(target.settings)
        text = drawing.picture(sections(target.settings), series, span, title)
    _write("--picture", picture, text, stack=stack, title=title, output=output)


def _grafana(stack: str, cloud: Cloud | None) -> tuple[str, str]:
    from llmd_gke.manifests.dashboard import grafana

    made = grafana.dashboard(Target.choose(stack, cloud).settings)
    return json.dumps(made, indent=2) + "\n", str(made["title"])


def _write(option: str, file: Path, text: str, *, stack: str, title: str, output: Output) -> None:
    if str(file) == "-":
        print(text, end="")
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{option} {file}: {error.strerror}\nFix: use a file in an existing, writable folder") from None
    show(output, {"stack": stack, "file": str(file), "title": title}, f"Wrote {file}: {title}")


def _link(target: Target) -> str:
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
        f"Stack {target.stack} on {target.cloud} has no output {OUTPUT}: it was brought up only in part.\n"
        f"Fix: {target.up}"
    )


def _open(target: Target, link: str) -> None:
    import webbrowser

    if target.cloud is not Cloud.GOOGLE:
        raise BadInput(
            f"--open: stack {target.stack} is in a local cloud ({target.cloud}), which has no console.\n"
            "Fix: import the panels into Grafana: --grafana FILE"
        )
    if not webbrowser.open(link):
        raise SetUpFailed("No browser can be opened on this machine.\nFix: open the link above yourself")
