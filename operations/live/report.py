"""The report of a run, as Markdown and as JSON, without secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from operations.live import sections
from operations.live.evidence import Evidence
from operations.live.open_claims import BY_HAND, answers
from operations.live.sections import cell

SECRET_NAMES = re.compile(r"TOKEN|SECRET|PASSPHRASE|PASSWORD|CREDENTIAL|API_KEY|ACCESS_KEY", re.IGNORECASE)
SECRET_SHAPES = re.compile(
    r"hf_[A-Za-z0-9]{20,}"  # Hugging Face
    r"|ya29\.[A-Za-z0-9._-]{20,}"  # Google access tokens
    r"|pul-[0-9a-f]{40}"  # Pulumi Cloud
    r"|eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}(\.[A-Za-z0-9_-]+)?"  # JSON web tokens
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)",
    re.DOTALL,
)
SHORTEST = 8
"""Shorter values of variables are no secrets, and would take ordinary words away."""


def without_secrets(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with ``[secret]`` for what looks like one, and for values of variables whose names say so."""
    for name, value in (os.environ if environment is None else environment).items():
        if SECRET_NAMES.search(name) and len(value) >= SHORTEST and not Path(value).is_absolute():
            text = text.replace(value, "[secret]")
    return SECRET_SHAPES.sub("[secret]", text)


def as_data(seen: Evidence, taken: str, price: str) -> dict[str, object]:
    """Everything as plain data."""
    from operations.bench.result import as_json

    return {
        "stack": seen.stack,
        "cloud": seen.cloud,
        "taken": taken,
        "price": price,
        "passed": not any(step.verdict == "failed" for step in seen.steps),
        "steps": [asdict(step) for step in seen.steps],
        "points": [
            {"number": point.number, "claim": point.claim, "answer": found, "evidence": words}
            for point, found, words in answers(seen)
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
        *(f"| {step.name} | {step.verdict} | {_time(step.seconds)} | {cell(step.words)} |" for step in seen.steps),
        "",
        "## Open points of docs/not-verified-live.md",
        "",
        "| # | Claim | Holds | Seen |",
        "|---|---|---|---|",
        *(f"| {point.number} | {point.claim} | {found} | {cell(words)} |" for point, found, words in answers(seen)),
        "",
        "By hand:",
        "",
        *(f"- {number}: {cell(words)}" for number, words in BY_HAND.items()),
    ]
    lines += [*sections.status(seen.status), *sections.smoke(seen.smoke), *sections.bench(seen.bench)]
    return "\n".join(lines) + "\n"


def _time(seconds: float) -> str:
    return f"{seconds / 60:.1f} min" if seconds >= 120 else f"{seconds:.0f} s"
