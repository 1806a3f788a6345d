"""The report of a run, as Markdown and as JSON, without secrets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from llmd_gke import redaction
from operations.live import sections
from operations.live.evidence import Evidence
from operations.live.open_claims import BY_HAND, answers
from operations.live.sections import cell

SHORTEST = 8
"""Minimum length of a secret in characters: shorter values of variables match ordinary words."""


def without_secrets(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text without anything that looks like a secret, and without the values of variables whose names are those of
    secrets.
    """
    secrets = [
        value
        for name, value in (os.environ if environment is None else environment).items()
        if redaction.is_secret_name(name) and len(value) >= SHORTEST and not Path(value).is_absolute()
    ]
    return redaction.by_shape(redaction.without(text, secrets))


def as_data(seen: Evidence, taken: str, price: str) -> dict[str, object]:
    """Everything as plain data."""
    from operations.bench.result import as_json

    return {
        "stack": seen.stack,
        "cloud": seen.cloud,
        "taken": taken,
        "price": price,
        "passed": not any(step.verdict == "failed" for step in seen.steps),
        "steps": [
            {"name": step.name, "verdict": step.verdict, "words": step.text, "seconds": step.seconds}
            for step in seen.steps
        ],
        "points": [
            {"number": point.number, "claim": point.claim, "answer": answer, "evidence": text}
            for point, answer, text in answers(seen)
        ],
        "smoke": seen.smoke,
        "unchanged": seen.unchanged,
        "bench": as_json(seen.bench) if seen.bench else {},
        "status": seen.status,
        "left": seen.left,
    }


def as_markdown(seen: Evidence, taken: str, price: str) -> str:
    """The report for people."""
    lines = [
        f"# Live acceptance of stack {seen.stack} ({seen.cloud})",
        "",
        f"{taken}. {price}",
        "",
        "| Step | | Time | |",
        "|---|---|---|---|",
        *(f"| {step.name} | {step.verdict} | {_time(step.seconds)} | {cell(step.text)} |" for step in seen.steps),
        "",
        "## Open points of docs/not-verified-live.md",
        "",
        "| # | Claim | Holds | Observed |",
        "|---|---|---|---|",
        *(f"| {point.number} | {point.claim} | {answer} | {cell(text)} |" for point, answer, text in answers(seen)),
        "",
        "By hand:",
        "",
        *(f"- {number}: {cell(text)}" for number, text in BY_HAND.items()),
    ]
    lines += [*sections.status(seen.status), *sections.smoke(seen.smoke), *sections.bench(seen.bench)]
    return "\n".join(lines) + "\n"


def _time(seconds: float) -> str:
    return f"{seconds / 60:.1f} min" if seconds >= 120 else f"{seconds:.0f} s"
