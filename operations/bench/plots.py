# matplotlib is only in the benchmark's own environment (requirements/bench.txt), which type checkers do not see.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingModuleSource=false
"""Plots of a result: ``python -m operations.bench.plots RESULT FOLDER`` in the bench environment.

Writes ``throughput``, ``first-token`` and, where both workloads ran, ``hit-against-miss`` as PNG and SVG, and prints
their paths. Plots of numbers that are not measurements of a TPU are marked across the picture.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot

NAMES = {"random": "no common prefix (miss)", "shared": "common prefix (hit)", "agentic": "sessions"}
COLOURS = {"random": "#5f6368", "shared": "#1a73e8", "agentic": "#188038"}
LINES: dict[str, tuple[str, float, dict[str, str]]] = {
    "throughput": ("output tokens per second", 1, {"output_tokens_per_second": "-"}),
    "first-token": ("time to first token, ms", 1000, {"ttft_p50": "-", "ttft_p95": ":"}),
}
"""By file: label and factor of the numbers, and the drawn fields of a level with their styles."""


def draw(result: dict[str, Any], folder: Path) -> list[Path]:
    """All plots of a result."""
    mpl.rcParams["svg.hashsalt"] = "llmd-gke"  # the same result gives the same file
    mpl.rcParams["svg.fonttype"] = "none"  # text remains text: files are small and searchable
    kinds = list(dict.fromkeys(level["workload"] for level in result["levels"]))
    made = [file for name in LINES for file in _lines(result, kinds, folder, name)]
    return [*made, *_bars(result, folder)] if len(kinds) > 1 else made


def _lines(result: dict[str, Any], kinds: list[str], folder: Path, name: str) -> list[Path]:
    label, scale, values = LINES[name]
    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    for kind in kinds:
        levels = sorted(
            (one for one in result["levels"] if one["workload"] == kind), key=lambda one: one["concurrency"]
        )
        for key, style in values.items():
            line_label = NAMES[kind] + (f", {key[-3:]}" if len(values) > 1 else "")
            at, height = [one["concurrency"] for one in levels], [one[key] * scale for one in levels]
            axes.plot(at, height, style, marker="o", label=line_label, color=COLOURS[kind])
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(mpl.ticker.ScalarFormatter())
    axes.set_xlabel("concurrent requests")
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    return _save(figure, axes, result, folder / name)


def _bars(result: dict[str, Any], folder: Path) -> list[Path]:
    """Plots the time to first token with and without a shared prefix, at every concurrency that both workloads have."""
    by = {kind: {one["concurrency"]: one for one in result["levels"] if one["workload"] == kind} for kind in NAMES}
    both = sorted(set(by["random"]) & set(by["shared"]))
    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    for offset, kind in ((-0.2, "random"), (0.2, "shared")):
        heights = [by[kind][level]["ttft_p50"] * 1000 for level in both]
        axes.bar([at + offset for at in range(len(both))], heights, 0.38, label=NAMES[kind], color=COLOURS[kind])
    axes.set_xticks(range(len(both)), [str(level) for level in both])
    axes.set_xlabel("concurrent requests")
    axes.set_ylabel("time to first token, median, ms")
    axes.legend()
    return _save(figure, axes, result, folder / "hit-against-miss")


def _save(figure: Any, axes: Any, result: dict[str, Any], path: Path) -> list[Path]:
    chips = f", {result['chips']} chip{'' if result['chips'] == 1 else 's'}" if result["chips"] else ""
    axes.set_title(f"{result['model']} of stack {result['stack']}{chips}, {result['taken'][:10]}", fontsize=10)
    if result["mark"]:
        figure.text(
            0.5, 0.5, "NOT A MEASUREMENT", fontsize=34, color="red", alpha=0.22, ha="center", va="center", rotation=20
        )
        figure.supxlabel(result["mark"], fontsize=7, color="red")
    made: list[Path] = []
    for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
        file = path.with_suffix(f".{kind}")
        figure.savefig(file, dpi=150, metadata=metadata)
        made.append(file)
    pyplot.close(figure)
    return made


if __name__ == "__main__":
    for made_file in draw(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2])):
        print(made_file)
