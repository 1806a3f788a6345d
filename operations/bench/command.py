"""``llmd-gke bench``."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from operations.enter_localcloud import enter, starting
from operations.exits import BadInput, NotUp
from operations.options import DEFAULT_STACK, Cloud, CloudOption, Output, OutputOption, StackOption
from operations.outputs import Endpoint, read
from operations.progress import working
from operations.target import Target

if TYPE_CHECKING:
    from operations.bench.result import BenchResult
    from operations.bench.workload import Workload

KINDS = ("both", "random", "shared")


def command(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[compare OLD NEW]", help="Compare two results instead of taking one.", show_default=False
        ),
    ] = None,
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="The model; needed where there are several.")
    ] = None,
    workload: Annotated[
        str, typer.Option(help="Prompts: random, shared (a long beginning in common), or both.")
    ] = "both",
    first: Annotated[
        int, typer.Option(min=1, help="Requests at once to begin with; each level has twice as many.")
    ] = 1,
    most: Annotated[int, typer.Option(min=1, max=4096, help="Requests at once to end with, if not flat before.")] = 256,
    seconds: Annotated[float, typer.Option(min=1, help="Seconds of each level.")] = 30,
    warmup: Annotated[float, typer.Option(min=0, help="Seconds at the beginning of a level that are left out.")] = 5,
    prompt_tokens: Annotated[int, typer.Option(min=16, help="Length of a prompt, about.")] = 1152,
    prefix_tokens: Annotated[
        int, typer.Option(min=1, help="Of that, the beginning that `shared` prompts share.")
    ] = 1024,
    output_tokens: Annotated[int, typer.Option(min=1, help="Length of an answer.")] = 128,
    folder: Annotated[
        Path | None, typer.Option(help="Where results and plots go. Default: bench/STACK-MODEL-TIME.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="Ask here instead of the gateway of the outputs; needs --model.")
    ] = None,
) -> None:
    """Raise the load on a model until its throughput is flat: tokens per second, time to first token, price.

    Prompts of several KV cache blocks, streamed answers. Random prompts are the control for shared beginnings, which
    the endpoint picker sends where they are cached. `bench compare OLD NEW` sets two result files side by side.

    The load generator is guidellm, installed into an environment of its own at the first call (0.7 GB).
    Exit status 0: done; 1: no level succeeded; others: see `llmd-gke --help`.
    """
    if arguments:
        _compare(arguments, output)
        return
    if workload not in KINDS:
        raise BadInput(f"--workload: {workload} is not known. Allowed: {', '.join(KINDS)}.")
    if prefix_tokens >= prompt_tokens:
        raise BadInput(
            f"--prefix-tokens {prefix_tokens} leaves nothing of {prompt_tokens} for the prompts' own ends.\n"
            "Fix: make it smaller than --prompt-tokens"
        )
    if first > most:
        raise BadInput(f"--first {first} is more than --most {most}.\nFix: swap them")
    with starting(f"reading stack {stack}"):
        from operations.bench.workload import Workload

        kinds = ("random", "shared") if workload == "both" else (workload,)
        loads = [
            Workload("shared" if k == "shared" else "random", prompt_tokens, prefix_tokens, output_tokens)
            for k in kinds
        ]
        target = Target.choose(stack, cloud)
    if url is None:
        prepare(target)
        enter(target)
    result, files = take(
        target, loads, model=model, url=url, first=first, most=most, seconds=seconds, warmup=warmup, folder=folder
    )
    finish(result, files, output)


def prepare(target: Target) -> None:
    """Installs the load generator while something can be downloaded: inside a laptop cloud nothing can."""
    if target.cloud is not Cloud.LAPTOP:
        return
    from localcloud.linux_namespaces import discover
    from operations.bench import environment

    if discover.running(target.places.home) is not None:  # else there is nothing to measure, and `enter` says so
        with working("looking for the load generator") as work:
            environment.python(work.say)


def take(
    target: Target,
    loads: list[Workload],
    *,
    model: str | None = None,
    url: str | None = None,
    first: int = 1,
    most: int = 256,
    seconds: float = 30,
    warmup: float = 5,
    folder: Path | None = None,
) -> tuple[BenchResult, list[Path]]:
    """Runs the benchmark and writes its files. Raises ``NotUp``, ``SetUpFailed``, ``BadInput`` or ``Failed``."""
    with working(f"reading the outputs of stack {target.stack}") as work:
        from operations.bench import environment, load, price
        from operations.bench.result import LAPTOP, OTHER, BenchResult, as_json

        endpoint = _endpoint(target, model, url)
        python = environment.python(work.say)
        taken = datetime.now(UTC)
        levels, stopped = load.run(
            python,
            load.Load(endpoint.url, endpoint.served_model_name, loads, seconds, warmup, first, most),
            work.say,
        )
        # What answers at an address given by hand are not the stack's chips.
        served = next((one for one in target.settings.models if one.name == endpoint.name and url is None), None)
        cost = price.of_model(target.settings, served) if served else None
        result = BenchResult(
            stack=target.stack,
            cloud=target.cloud.value,
            model=endpoint.name,
            mark=OTHER if url else "" if target.cloud is Cloud.GOOGLE else LAPTOP,
            taken=taken.strftime("%Y-%m-%dT%H:%M:%SZ"),
            generator=environment.generator(),
            chips=cost.chips if cost else 0,
            usd_per_hour=cost.usd_per_hour if cost else None,
            settings={
                "prompt_tokens": loads[0].prompt_tokens,
                "prefix_tokens": loads[0].prefix_tokens,
                "output_tokens": loads[0].output_tokens,
                "groups": loads[0].groups,
                "seconds": seconds,
                "warmup": warmup,
            },
            levels=tuple(levels),
            stopped=stopped,
        )
        where = folder or Path("bench") / f"{target.stack}-{endpoint.name}-{taken:%Y%m%d-%H%M%S}"
        try:
            where.mkdir(parents=True, exist_ok=True)
            file = where / "result.json"
            file.write_text(json.dumps(as_json(result), indent=2) + "\n")
        except OSError as error:
            raise BadInput(f"--folder {where}: {error.strerror}.\nFix: name a folder that can be written") from None
        work.say("drawing")
        return result, [file, *environment.plots(python, file, where)]


def _endpoint(target: Target, model: str | None, url: str | None) -> Endpoint:
    if url is not None:
        if model is None:
            raise BadInput("--url needs --model, the name that clients send.\nFix: add --model NAME")
        return Endpoint(model, url.rstrip("/"), model)
    if target.cloud is Cloud.REHEARSAL:
        raise NotUp(
            "The rehearsal serves no requests, so there is nothing to measure.\n"
            f"Fix: make up STACK={target.stack} CLOUD=laptop, then llmd-gke bench --stack {target.stack} --cloud laptop"
        )
    there = [endpoint for endpoint in read(target).models if model in (None, endpoint.name)]
    if len(there) != 1:
        names = ", ".join(one.name for one in target.settings.models)
        raise BadInput(f"--model {model or 'is not given'}: stack {target.stack} has {names}.\nFix: name one of them")
    return there[0]


def finish(result: BenchResult, files: list[Path], output: Output) -> None:
    """Shows a result and where its files are."""
    from operations.bench import tables
    from operations.bench.result import as_json
    from operations.printing import show

    data = as_json(result) | {"files": [str(file) for file in files]}
    show(output, data, *tables.run(result, date.today()), "Files: " + ", ".join(str(file) for file in files))


def _compare(arguments: list[str], output: Output) -> None:
    from operations.bench import tables
    from operations.bench.result import as_json
    from operations.bench.result import read as read_result
    from operations.printing import show

    if arguments[0] != "compare" or len(arguments) != 3:
        raise BadInput(f"bench {' '.join(arguments)} is no call. Allowed: bench, bench compare OLD.json NEW.json.")
    old, new = (read_result(Path(word)) for word in arguments[1:])
    data: dict[str, object] = {"old": as_json(old), "new": as_json(new), "differences": tables.differences(old, new)}
    show(output, data, *tables.comparison(old, new))
