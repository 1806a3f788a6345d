"""The parts of the report with the results of ``status``, ``smoke`` and ``bench``, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from llmd_common.kubernetes.fields import each

if TYPE_CHECKING:
    from operations.bench.result import BenchResult

MARK = "NOT A MEASUREMENT"


def status(screen: Mapping[str, object]) -> list[str]:
    """The output of ``status``, one row per line; empty if the step did not run."""
    if not screen:
        return []
    lines = ["", "## Status", "", f"Overall status: {screen['state']}.", "", "| | State | Observed |", "|---|---|---|"]
    seen = [line for section in each(screen, "sections") for line in each(section, "lines")]
    return [*lines, *(f"| {cell(one['subject'])} | {one['state']} | {cell(one['text'])} |" for one in seen)]


def smoke(verdicts: Mapping[str, str]) -> list[str]:
    """One row per check; empty if the step did not run."""
    return ["", "## Smoke", "", *(f"- {key}: {verdict}" for key, verdict in verdicts.items())] if verdicts else []


def bench(result: BenchResult | None) -> list[str]:
    """One row per level, below a sentence on whether they are measurements of a TPU; empty if the step did not run."""
    if result is None:
        return []
    lines = ["", "## Benchmark", "", f"{result.model}, {result.generator}, {result.taken}."]
    if result.mark:
        lines += ["", f"**{MARK}**: {result.mark}."]
    lines += [
        "",
        "| Prompts | Concurrency | Requests | Failed | Output tokens/s | First token p50 | p95 | Cached | USD per M "
        "tokens |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for level in result.levels:
        price = result.usd_per_million(level)
        cells = (
            level.workload,
            level.concurrency,
            level.requests,
            level.errors,
            f"{level.output_tokens_per_second:,.0f}",
            f"{level.ttft_p50 * 1000:,.0f} ms",
            f"{level.ttft_p95 * 1000:,.0f} ms",
            "?" if level.cached_share is None else f"{level.cached_share:.0%}",
            "-" if price is None else f"{price:,.2f}",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def cell(text: str) -> str:
    """Text as one cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
