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
from operations.printing import show
from operations.progress import working
from operations.target import Target

if TYPE_CHECKING:
    from operations.bench.load import Load
    from operations.bench.result import BenchResult
    from operations.bench.workload import Kind

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
        from operations.bench.load import Load
        from operations.bench.workload import Workload

        kinds = cast("tuple[Kind, ...]", ("random", "shared") if workload == "both" else (workload,))
        prompts = [Workload(kind, prompt_tokens, prefix_tokens, output_tokens, turns=turns) for kind in kinds]
        load = Load(prompts, seconds, warmup, first, most)
        target = Target.choose(stack, cloud)
    if url is None:
        models.serving(target, model)
        prepare(target)
        enter(target)
    result, files = take(target, load, model=model, url=url, folder=folder)
    from operations.bench import tables
    from operations.bench.result import as_json

    data = as_json(result) | {"files": [str(file) for file in files]}
    show(output, data, *tables.run(result, date.today()), "Files: " + ", ".join(str(file) for file in files))


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
    load: Load,
    *,
    model: str | None = None,
    url: str | None = None,
    folder: Path | None = None,
) -> tuple[BenchResult, list[Path]]:
    """Runs the benchmark and writes its files. Raises ``NotUp``, ``SetUpFailed``, ``BadInput`` or ``Failed``."""
    with working(f"reading the outputs of stack {target.stack}") as work:
        from operations.bench import environment, price
        from operations.bench.load import run
        from operations.bench.result import LAPTOP, OTHER, BenchResult, as_json

        endpoint = (
            models.at_url(model, url)
            if url is not None
            else models.endpoints(target, [models.serving(target, model)], "bench")[0]
        )
        python = environment.python(work.say)
        taken = datetime.now(UTC)
        levels, stopped = run(python, endpoint, load, work.say)
        prompts = load.workloads[0]
        lengths = ("prompt_tokens", "prefix_tokens", "output_tokens", "groups")
        amounts = {name: getattr(prompts, name) for name in lengths} | {"seconds": load.seconds, "warmup": load.warmup}
        if prompts.kind == "agentic":
            amounts |= {"turns": prompts.turns, "pause": prompts.pause}
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
            settings=amounts,
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


def _compare(arguments: list[str], output: Output) -> None:
    from operations.bench import tables
    from operations.bench.result import as_json
    from operations.bench.result import read as read_result

    if arguments[0] != "compare" or len(arguments) != 3:
        raise BadInput(
            f"bench {' '.join(arguments)} is not a valid call. Allowed: bench, bench compare OLD.json NEW.json.\n"
            f"Fix: llmd-gke bench --model {arguments[0]}"
        )
    old, new = (read_result(Path(word)) for word in arguments[1:])
    data: dict[str, object] = {"old": as_json(old), "new": as_json(new), "differences": tables.differences(old, new)}
    show(output, data, *tables.comparison(old, new))
