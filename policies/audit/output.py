"""A report as a table for people, and as SARIF for code scanning."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from urllib.parse import quote

from llmd_gke.rules.finding import Finding
from policies.audit.judge import Report, Violation
from policies.rules.rule import Rule

WIDTH = 120
"""Columns of the table if the terminal's are not known."""
SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def table(report: Report) -> str:
    """A row for each problem with the objects that have it: what is wrong, what it leads to, and the fix."""
    width = max(60, shutil.get_terminal_size((WIDTH, 0)).columns)
    widths = (width * 2 // 5, width // 3, width - width * 2 // 5 - width // 3 - 4)
    lines: list[str] = []
    if report.violations:
        lines += [*_row(("What is wrong", "What it leads to", "Fix"), widths), "─" * width]
    rows: dict[tuple[Rule, str, Finding], list[Violation]] = {}
    for one in report.violations:
        rows.setdefault((one.rule, one.level, one.finding), []).append(one)
    for (rule, level, finding), found in rows.items():
        objects = [f"- {one.object}{f' ({_place(one)})' if one.file else ''}" for one in found]
        wrong = "\n".join([f"{rule.name} ({level})", f"{finding.problem}.", *objects])
        allowed = [f"Allowed: {finding.allowed}."] if finding.allowed else []
        fix = "\n".join([*([f"{finding.fix}."] if finding.fix else []), *allowed])
        lines += [*_row((wrong, rule.why, fix), widths), ""]
    for title, texts in (("Not certain", report.uncertain), ("Not read", report.unread)):
        lines += [f"{title}: {text}" for text in texts]
    mandatory = sum(one.level == "mandatory" for one in report.violations)
    advisory = len(report.violations) - mandatory
    return "\n".join([*lines, f"{report.objects} objects: {mandatory} mandatory and {advisory} advisory violations"])


def _place(one: Violation) -> str:
    return f"{one.file}:{one.line}" if one.line else one.file


def _row(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    columns = [
        [
            line
            for part in cell.split("\n")
            for line in textwrap.wrap(part, width, subsequent_indent="  " * (part[:2] == "- "), break_on_hyphens=False)
        ]
        for cell, width in zip(cells, widths, strict=True)
    ]
    for line in zip_longest(*columns, fillvalue=""):
        yield "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()


def as_sarif(report: Report) -> dict[str, object]:
    """The report in SARIF 2.1.0, with what GitHub's code scanning requires: a rule and a file for each result."""
    rules = list(dict.fromkeys(one.rule for one in report.violations))
    driver = {
        "name": "llmd-gke",
        "rules": [
            {
                "id": rule.name,
                "shortDescription": {"text": rule.title},
                "fullDescription": {"text": rule.why},
                "helpUri": rule.sources[0],
                "help": {"text": f"{rule.why} {rule.opt_out}".strip()},
            }
            for rule in rules
        ],
    }
    results = [
        {
            "ruleId": one.rule.name,
            "ruleIndex": rules.index(one.rule),
            "level": "error" if one.level == "mandatory" else "warning",
            "message": {"text": f"{one.object}: {one.finding.problem}. Fix: {one.finding.fix or one.finding.allowed}."},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": _uri(one.file or report.sources[0])},
                        "region": {"startLine": one.line or 1},
                    },
                    "logicalLocations": [{"fullyQualifiedName": one.object}],
                }
            ],
        }
        for one in report.violations
    ]
    notes = [{"level": "note", "message": {"text": text}} for text in (*report.uncertain, *report.unread)]
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": report.status == 0, "toolExecutionNotifications": notes}],
        "results": results,
        "columnKind": "unicodeCodePoints",
    }
    return {"$schema": SARIF, "version": "2.1.0", "runs": [run]}


def _uri(file: str) -> str:
    """A file as code scanning finds it: relative to the folder in which the command runs, if it is below that."""
    path = Path(file)
    within = path.is_absolute() and path.is_relative_to(Path.cwd())
    return quote(path.relative_to(Path.cwd()).as_posix() if within else path.as_posix())
