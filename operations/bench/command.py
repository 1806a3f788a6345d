"""``llmd-gke bench``."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from operations import models
from operations.enter_localcloud import enter, starting
from operations.exits import BadInput
from operations.options import DEFAULT_STACK, Cloud, CloudOption, Output, OutputOption, StackOption
from operations.progress import working
from operations.target import Target

if TYPE_CHECKING:
    from operations.bench.result import BenchResult
    from operations.bench.workload import Kind, Workload

KINDS = ("both", "random", "shared", "agentic")


def command(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[compare OLD NEW]", help="Compare two results instead of running a benchmark.", show_default=False
        ),
    ] = None,
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    *,
    cloud: CloudOption = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="The model; required if the stack has several.")
    ] = None,
    workload: Annotated[
        str,
        typer.Option(help="Prompts: random, shared (with a long common prefix), both, or agentic (sessions of turns)."),
    ] = "both",
    first: Annotated[
        int, typer.Option(min=1, help="Concurrent requests of the first level; each further level doubles them.")
    ] = 1,
    most: Annotated[
        int,
        typer.Option(
            min=1, max=4096, help="Maximum number of concurrent requests; the run stops earlier if throughput is flat."
        ),
    ] = 256,
    seconds: Annotated[float, typer.Option(min=1, help="Duration of each level, in seconds.")] = 30,
    warmup: Annotated[
        float, typer.Option(min=0, help="Warm-up at the beginning of each level that is not measured, in seconds.")
    ] = 5,
    prompt_tokens: Annotated[int, typer.Option(min=16, help="Approximate length of a prompt, in tokens.")] = 1152,
    prefix_tokens: Annotated[
        int, typer.Option(min=1, help="Tokens of it that `shared` prompts have as a common prefix.")
    ] = 1024,
    output_tokens: Annotated[int, typer.Option(min=1, help="Length of an answer, in tokens.")] = 128,
    turns: Annotated[int, typer.Option(min=2, help="Turns of a session of `agentic`.")] = 10,
    folder: Annotated[
        Path | None, typer.Option(help="Folder for results and plots. Default: bench/STACK-MODEL-TIME.")
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(help="Send requests to this URL instead of the gateway in the outputs; requires --model."),
    ] = None,
) -> None:
    """Increase the load on a model until its throughput is flat; show tokens per second, time to first token and price.

    Prompts span several KV cache blocks, and answers are streamed. Random prompts are the control for prompts with a
    common prefix, which the endpoint picker sends to the replica that has it cached. Sessions send a history that grows
    with each turn, and pause between turns as an agent's tools do. `bench compare OLD NEW` compares two result files.

    The load generator is guidellm, installed into a separate environment at the first call (0.7 GB).
    Exit status 0: done; 1: no level succeeded; others: see `llmd-gke --help`.
    """
    if arguments:
        _compare(arguments, output)
        return
    if workload not in KINDS:
        raise BadInput(f"--workload: {workload} is not known. Allowed: {', '.join(KINDS)}.\nFix: --workload both")
    if prefix_tokens >= prompt_tokens:
        raise BadInput(
            f"--prefix-tokens {prefix_tokens} leaves none of the {prompt_tokens} prompt tokens for the prompts' "
            "different ends.\n"
            "Fix: make it smaller than --prompt-tokens"
        )
    if first > most:
        raise BadInput(f"--first {first} is more than --most {most}.\nFix: swap them")
    with starting(f"reading stack {stack}"):
        from operations.bench.workload import Workload

        kinds = ("random", "shared") if workload == "both" else (workload,)
        loads = [
            Workload(kind, prompt_tokens, prefix_tokens, output_tokens, turns=turns)
            for kind in cast("tuple[Kind, ...]", kinds)
        ]
        target = Target.choose(stack, cloud)
    if url is None:
        models.serving(target, model)
        prepare(target)
        enter(target)
    result, files = take(
        target, loads, model=model, url=url, first=first, most=most, seconds=seconds, warmup=warmup, folder=folder
    )
    finish(result, files, output)


def prepare(target: Target) -> None:
    """Installs the load generator before the command enters a laptop cloud, inside which downloads are impossible."""
    if target.cloud is not Cloud.LAPTOP:
        return
    from localcloud.linux_namespaces import discover
    from operations.bench import environment

    if discover.running(target.workdir.home) is not None:  # otherwise `enter` reports that nothing runs
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

        endpoint = (
            models.at_url(model, url)
            if url is not None
            else models.endpoints(target, [models.serving(target, model)], "bench")[0]
        )
        python = environment.python(work.say)
        taken = datetime.now(UTC)
        levels, stopped = load.run(
            python,
            load.Load(
                url=endpoint.url,
                model=endpoint.served_model_name,
                workloads=loads,
                seconds=seconds,
                warmup=warmup,
                first=first,
                most=most,
                key=endpoint.key,
                identity=endpoint.identity,
            ),
            work.say,
        )
        # A server at a given address does not necessarily run on the stack's chips.
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
                **({"turns": loads[0].turns, "pause": loads[0].pause} if loads[0].kind == "agentic" else {}),
            },
            levels=tuple(levels),
            stopped=stopped,
            hardware=price.hardware(target.settings, served) if served else "",
        )
        where = folder or Path("bench") / f"{target.stack}-{endpoint.name}-{taken:%Y%m%d-%H%M%S}"
        try:
            where.mkdir(parents=True, exist_ok=True)
            file = where / "result.json"
            file.write_text(json.dumps(as_json(result), indent=2) + "\n")
        except OSError as error:
            raise BadInput(f"--folder {where}: {error.strerror}.\nFix: use a writable folder") from None
        work.say("drawing")
        return result, [file, *environment.plots(python, file, where)]


def finish(result: BenchResult, files: list[Path], output: Output) -> None:
    """Prints a result and the paths of its files."""
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
        raise BadInput(
            f"bench {' '.join(arguments)} is not a valid call. Allowed: bench, bench compare OLD.json NEW.json.\n"
            f"Fix: llmd-gke bench --model {arguments[0]}"
        )
    old, new = (read_result(Path(word)) for word in arguments[1:])
    data: dict[str, object] = {"old": as_json(old), "new": as_json(new), "differences": tables.differences(old, new)}
    show(output, data, *tables.comparison(old, new))
