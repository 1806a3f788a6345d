"""A result of the benchmark, and its JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from llmd_common.kubernetes.fields import get
from operations.exits import BadInput

FORMAT = 1

LAPTOP = "taken on the laptop cloud, where a simulator answers; the numbers say nothing about TPUs or GPUs"
OTHER = "taken at the URL set with --url; which server answered is unknown"


@dataclass(frozen=True)
class Turn:
    """The requests of one turn of an agent's sessions."""

    requests: int
    prompt_tokens: int
    ttft_p50: float
    cached_share: float | None


@dataclass(frozen=True)
class Level:
    """One workload at one concurrency, without the warm-up. Times in seconds. ``cached_share``: of prompt tokens."""

    workload: str
    concurrency: int
    seconds: float
    requests: int
    errors: int
    requests_per_second: float
    output_tokens_per_second: float
    ttft_p50: float
    ttft_p95: float
    itl_p50: float
    latency_p50: float
    latency_p95: float
    prompt_tokens: int
    cached_share: float | None
    turns: tuple[Turn, ...] = ()
    """In their order; one if requests are no sessions."""


@dataclass(frozen=True)
class BenchResult:
    """The result of a run. ``mark``: why its numbers are not measurements of a TPU or GPU; empty if they are."""

    stack: str
    cloud: str
    model: str
    mark: str
    taken: str
    """Time of the run, UTC."""
    generator: str
    chips: int
    """Chips of the model's replicas."""
    usd_per_hour: float | None
    """List price of those chips; ``None`` if no public price is known."""
    settings: Mapping[str, object]
    """Lengths of prompts and answers in tokens, and seconds per level."""
    levels: tuple[Level, ...]
    stopped: Mapping[str, str]
    """By workload, the reason why its concurrency was not increased further."""
    hardware: str = ""
    """Machine type, topology and capacity of the model's hosts; empty in results that older versions wrote."""

    def of(self, workload: str) -> list[Level]:
        """The levels of a workload, lowest first."""
        return sorted((level for level in self.levels if level.workload == workload), key=lambda one: one.concurrency)

    def best(self, workload: str) -> Level | None:
        """The level with the most output tokens per second; ``None`` without levels."""
        return max(self.of(workload), key=lambda level: level.output_tokens_per_second, default=None)

    def usd_per_million(self, level: Level) -> float | None:
        """Price of a million output tokens at that level's throughput; none for marked numbers."""
        if self.mark or self.usd_per_hour is None or level.output_tokens_per_second <= 0:
            return None
        from operations.cost.estimate import usd_per_million_tokens

        return usd_per_million_tokens(self.usd_per_hour, level.output_tokens_per_second)


def workloads(result: BenchResult) -> list[str]:
    """The workloads of a result, in the order in which they ran."""
    return list(dict.fromkeys(level.workload for level in result.levels))


def as_json(result: BenchResult) -> dict[str, object]:
    """The result as plain data, with the price of each level."""
    levels = [asdict(level) | {"usd_per_million_output_tokens": _rounded(result, level)} for level in result.levels]
    return {"format": FORMAT, **asdict(result), "levels": levels}


def _rounded(result: BenchResult, level: Level) -> float | None:
    price = result.usd_per_million(level)
    return None if price is None else round(price, 4)


def read(file: Path) -> BenchResult:
    """Reads a result from its file. Raises ``BadInput`` for a file that does not contain one."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} cannot be read as a result: {error}\nFix: use the JSON file of a run") from None
    if get(content, "format") != FORMAT:
        raise BadInput(
            f"{file} is not a result of `llmd-gke bench` (format {FORMAT}).\nFix: use the JSON file of a run"
        )
    try:
        return TypeAdapter(BenchResult).validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise BadInput(f"{file} is damaged: {path}: {first['msg']}\nFix: run the benchmark again") from None
