"""``llmd-gke smoke``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from operations import models
from operations.enter_localcloud import enter, starting
from operations.exits import BadInput, Failed
from operations.options import DEFAULT_STACK, CloudOption, Output, OutputOption, StackOption
from operations.outputs import Endpoint
from operations.printing import show
from operations.progress import working
from operations.target import Target

if TYPE_CHECKING:
    import ssl

    from operations.smoke.outcome import Outcome


def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    *,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Check only this model of the stack.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write the result to this file, as JUnit XML.")] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Time limit for all checks together, in seconds.")] = 120,
    together: Annotated[int, typer.Option(min=2, max=256, help="Number of concurrent requests.")] = 8,
    long_tokens: Annotated[
        int | None,
        typer.Option(
            min=1, help="Tokens of the answer that must take longer than 30 s. Default: as many as the model allows."
        ),
    ] = None,
    ca: Annotated[Path | None, typer.Option("--ca", help="Trust the certificate authorities in this file.")] = None,
    url: Annotated[
        str | None,
        typer.Option(help="Send requests to this URL instead of the gateway in the outputs; requires --model."),
    ] = None,
) -> None:
    """Check everything that clients rely on, by sending requests to the stack's models through the gateway.

    Checks health, models, completion, chat, streaming, both names, concurrent requests, an unknown model, malformed
    JSON, and an answer that takes longer than 30 s, which GKE would cut off by default. If the server is too fast for
    an answer of 30 s, the last check reports that and counts as skipped.

    Exit status 0: all passed or skipped; 1: a check failed; others: see `llmd-gke --help`.
    """
    with starting(f"reading stack {stack}"):
        target = Target.choose(stack, cloud)
    if url is None:
        models.all_serving(target, model)
        enter(target)
    outcomes = look(target, model=model, seconds=timeout, together=together, long_tokens=long_tokens, ca=ca, url=url)
    finish(target, outcomes, output, junit, cloud_name=url or target.cloud.value)


def look(
    target: Target,
    *,
    model: str | None = None,
    seconds: float = 120,
    together: int = 8,
    long_tokens: int | None = None,
    ca: Path | None = None,
    url: str | None = None,
) -> list[Outcome]:
    """Runs the checks; see :func:`command` for the arguments.

    Raises ``BadInput`` for invalid arguments, and ``NotUp`` if there is nothing to check.
    """
    import asyncio

    from operations.smoke.client import Options
    from operations.smoke.run import smoke

    with working(f"reading the outputs of stack {target.stack}") as work:
        endpoints = _endpoints(target, model, url)
        return asyncio.run(
            smoke(
                endpoints,
                target.stack,
                Options(together, long_tokens),
                seconds=seconds,
                certificates=_trusting(ca),
                say=work.say,
            )
        )


def _endpoints(target: Target, model: str | None, url: str | None) -> list[Endpoint]:
    if url is not None:
        return [models.at_url(model, url)]
    return models.endpoints(target, models.all_serving(target, model), "smoke")


def _trusting(file: Path | None) -> ssl.SSLContext | None:
    if file is None:
        return None
    import ssl

    try:
        return ssl.create_default_context(cafile=str(file))
    except (OSError, ssl.SSLError) as error:
        raise BadInput(
            f"--ca {file}: no certificates can be read from this file ({error}).\nFix: use a PEM file"
        ) from None


def finish(
    target: Target, outcomes: list[Outcome], output: Output, junit_file: Path | None, *, cloud_name: str
) -> None:
    """Writes the result. Raises ``Failed`` if a check failed."""
    from operations.smoke import report

    if junit_file is not None:
        try:
            junit_file.parent.mkdir(parents=True, exist_ok=True)
            junit_file.write_bytes(report.junit(target.stack, outcomes))
        except OSError as error:
            raise BadInput(f"--junit {junit_file}: {error.strerror}.\nFix: use a writable file") from None
    data = report.as_json(target.stack, cloud_name, outcomes)
    show(output, data, *report.rendered(target.stack, cloud_name, outcomes))
    failed = report.count(outcomes)["failed"]
    if failed:
        raise Failed(f"{failed} of {len(outcomes)} checks failed.") from None
