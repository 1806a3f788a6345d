# The load generator has an environment of its own (requirements/bench.txt), which type checkers do not see.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedClassDecorator=false
# pyright: reportMissingTypeStubs=false
"""Runs guidellm level by level: ``python -m operations.bench.generator SPEC`` in the bench environment.

SPEC is a JSON file (:mod:`operations.bench.load`). Each finished level is one line of JSON on the original standard
output; guidellm's own output goes to standard error. guidellm starts its workers as new processes that import this
module again, so the code at the top also runs in them.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import types
from collections.abc import Iterator
from typing import Any

# guidellm 0.8 imports PyTorch (3 GB with its CUDA packages) for one class, which reads the rows of a data set one by
# one. Its registry accepts a reader of our own, so that the module that needs PyTorch is never imported.
_reader = types.ModuleType("guidellm.data.loaders.torch")
_reader.TorchDataLoader = object  # type: ignore[attr-defined]
sys.modules.setdefault("guidellm.data.loaders.torch", _reader)

from guidellm.benchmark.entrypoints import benchmark_generative_text  # noqa: E402
from guidellm.data.loaders import DataLoaderRegistry  # noqa: E402
from guidellm.schemas.benchmark import BenchmarkArgs, BenchmarkScenario  # noqa: E402

from operations.bench import levels  # noqa: E402
from operations.bench.workload import Workload, conversations  # noqa: E402


@DataLoaderRegistry.register("pytorch")
class Rows:
    """Yields ``rows`` one by one as requests, without end: a level that runs out of rows would end early, on a fast
    server even during its warm-up. guidellm's own data set has one row, for the names of the columns.
    """

    rows: Iterator[dict[str, Any]]

    def __init__(
        self, config: Any, datasets: list[Any], preprocessors: list[Any], finalizer: Any, random_seed: int, **more: Any
    ) -> None:
        del config, random_seed, more
        self._datasets, self._preprocessors, self._finalizer = datasets, preprocessors, finalizer
        for preprocessor in preprocessors:
            if hasattr(preprocessor, "setup_data"):
                preprocessor.setup_data(datasets=datasets)

    def __iter__(self) -> Iterator[Any]:
        for row in self.rows:
            items: Any = [{"dataset": row}]
            for preprocessor in self._preprocessors:
                items = preprocessor(items)
            if request := self._finalizer(items):
                yield request

    @property
    def info(self) -> dict[str, Any]:
        """Metadata of the reader for guidellm's report."""
        return {"rows": len(self._datasets[0])}


def scenario(spec: dict[str, Any], workload: Workload, streams: int) -> BenchmarkScenario:
    """One level: ``streams`` concurrent requests, for the duration in the spec; the warm-up is excluded."""
    source = conversations(workload, f"{spec['seed']} {workload.kind} {streams}")
    Rows.rows = (row(workload, texts) for texts in source)
    return BenchmarkScenario(
        spec=BenchmarkArgs(
            backend={
                "kind": "openai_http",
                "target": spec["url"],
                "model": spec["model"],
                "request_format": f"/v1/{'chat/' if workload.kind == 'agentic' else ''}completions",
                "verify": True,
                "timeout": spec["timeout"],
                "api_key": spec.get("key") or None,
                # guidellm requests this path before the load. A front door has no /health.
                "api_routes": {"/health": "v1/models"},
                **_behind_iap(spec.get("identity", "")),
            },
            profile={
                "kind": "concurrent",
                "streams": [streams],
                "warmup": {"value": spec["warmup"], "mode": "duration"},
            },
            constraints=[{"kind": "max_duration", "seconds": spec["seconds"] + spec["warmup"]}],
            data=[{"kind": "in_memory_dict_list", "data": [next(Rows.rows)]}],
            data_preprocessors=[],
            outputs=[],
        )
    )


def row(workload: Workload, texts: list[str]) -> dict[str, Any]:
    """A conversation as guidellm's columns; the pause follows a turn's answer."""
    columns: dict[str, Any] = {}
    for turn, text in enumerate(texts):
        columns |= {f"prompt_{turn}": text, f"output_tokens_count_{turn}": workload.output_tokens}
        columns |= {f"requeue_delay_{turn}": workload.pause} if turn + 1 < len(texts) else {}
    return columns


def _behind_iap(identity: str) -> dict[str, Any]:
    """Arguments that send Google's token with every request; none without one.

    guidellm's first request takes no headers beside the key (0.8 ``OpenAIHTTPBackend.validate``), so it is left out.
    """
    if not identity:
        return {}
    return {"extras": {"headers": {"Proxy-Authorization": f"Bearer {identity}"}}, "validate_backend": False}


def measured(report: Any, streams: int, kind: str) -> dict[str, Any]:
    """The fields of :class:`operations.bench.result.Level` from guidellm's report. Times in seconds."""
    data = report.benchmarks[0].model_dump(mode="json")
    metrics, totals = data["metrics"], data["metrics"]["request_totals"]

    def of(name: str, what: str, scale: float = 1.0) -> float:
        values = metrics[name]["successful"]
        return round((values["percentiles"][what] if what.startswith("p") else values[what]) * scale, 6)

    finished = data["requests"]["successful"]
    by_turn: dict[int, list[dict[str, Any]]] = {}
    for request in finished:
        by_turn.setdefault(request["info"]["turn_index"], []).append(request)
    return {
        "workload": kind,
        "concurrency": streams,
        "seconds": round(data["duration"], 3),
        "requests": totals["successful"],
        "errors": totals["errored"],
        "requests_per_second": of("requests_per_second", "mean"),
        "output_tokens_per_second": of("output_tokens_per_second", "mean"),
        "ttft_p50": of("time_to_first_token_ms", "p50", 0.001),
        "ttft_p95": of("time_to_first_token_ms", "p95", 0.001),
        "itl_p50": of("inter_token_latency_ms", "p50", 0.001),
        "latency_p50": of("request_latency", "p50"),
        "latency_p95": of("request_latency", "p95"),
        "prompt_tokens": prompt_tokens(finished),
        "cached_share": cached_share(finished),
        "turns": [
            {
                "requests": len(requests),
                "prompt_tokens": prompt_tokens(requests),
                "ttft_p50": round(statistics.median(one["time_to_first_token_ms"] for one in requests) / 1000, 6),
                "cached_share": cached_share(requests),
            }
            for _, requests in sorted(by_turn.items())
        ],
    }


def prompt_tokens(requests: list[dict[str, Any]]) -> int:
    """The mean length of the prompts, as the server counts."""
    counts = [one["input_metrics"]["text_tokens"] or 0 for one in requests]
    return round(sum(counts) / len(counts)) if counts else 0


def cached_share(requests: list[dict[str, Any]]) -> float | None:
    """The share of the prompts' tokens that came out of a cache; ``None`` if the server does not say."""
    metrics = [request["input_metrics"] for request in requests]
    cached = [one["cached_tokens"] for one in metrics if one.get("cached_tokens") is not None]
    tokens = sum(one["text_tokens"] or 0 for one in metrics)
    return round(sum(cached) / tokens, 4) if cached and tokens else None


async def run(spec: dict[str, Any], say: Any) -> None:
    """Runs every workload of the spec, with increasing concurrency."""
    for table in spec["workloads"]:
        workload = Workload(**table)
        throughputs: list[float] = []
        for streams in levels.doubling(spec["first"], spec["most"]):
            say({"starts": {"workload": workload.kind, "concurrency": streams}})
            report, _ = await benchmark_generative_text(scenario(spec, workload, streams), progress=False)
            level = measured(report, streams, workload.kind)
            say({"level": level})
            throughputs.append(level["output_tokens_per_second"])
            share = level["errors"] / max(1, level["errors"] + level["requests"])
            if why := levels.enough(throughputs, share):
                say({"stopped": {"workload": workload.kind, "why": why}})
                break


def main() -> None:
    """Reads the spec, reserves standard output for the results, and runs the workloads."""
    import asyncio
    from pathlib import Path

    lines = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    spec = json.loads(Path(sys.argv[1]).read_text())

    def say(message: dict[str, Any]) -> None:
        lines.write(json.dumps(message) + "\n")

    asyncio.run(run(spec, say))


if __name__ == "__main__":
    main()
