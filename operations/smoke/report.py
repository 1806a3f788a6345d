"""The results of the checks as a table, as JSON and as JUnit XML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from xml.etree import ElementTree as Xml

from rich.markup import escape
from rich.table import Table

from operations.smoke.outcome import Outcome

MARKS: Mapping[str, str] = {"passed": "[green]passed[/]", "failed": "[red]failed[/]", "skipped": "[yellow]skipped[/]"}


def count(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Number of outcomes by verdict."""
    return {verdict: sum(outcome.verdict == verdict for outcome in outcomes) for verdict in MARKS}


def as_json(stack: str, cloud: str, outcomes: Sequence[Outcome]) -> dict[str, object]:
    """The whole result as plain data."""
    return {"stack": stack, "cloud": cloud, **count(outcomes), "checks": [asdict(outcome) for outcome in outcomes]}


def rendered(stack: str, cloud_name: str, outcomes: Sequence[Outcome]) -> list[Table | str]:
    """A table for each model, then the fix for each failure. ``cloud_name``: the cloud, or the address that was
    checked.
    """
    parts: list[Table | str] = []
    for model in dict.fromkeys(outcome.model for outcome in outcomes):
        table = Table(title=f"{model} of stack {stack} ({cloud_name})", title_justify="left")
        for heading in ("check", "verdict", "seconds", "what came"):
            table.add_column(heading, justify="right" if heading == "seconds" else "left", overflow="fold")
        for outcome in outcomes:
            if outcome.model == model:
                table.add_row(outcome.name, MARKS[outcome.verdict], f"{outcome.seconds:.1f}", escape(outcome.detail))
        parts.append(table)
    advice = dict.fromkeys(
        (o.cause or "unknown; not a known symptom", o.fix) for o in outcomes if o.verdict == "failed"
    )
    parts += [f"cause: {cause}\nfix:   {fix}" for cause, fix in advice]
    return [*parts, ", ".join(f"{number} {verdict}" for verdict, number in count(outcomes).items())]


def junit(stack: str, outcomes: Sequence[Outcome]) -> bytes:
    """JUnit's XML: one suite per model, one case per check, as CI systems read it."""
    root = Xml.Element("testsuites", {"name": f"smoke {stack}", **_numbers(outcomes)})
    for model in dict.fromkeys(outcome.model for outcome in outcomes):
        of_model = [outcome for outcome in outcomes if outcome.model == model]
        suite = Xml.SubElement(root, "testsuite", {"name": f"{stack}.{model}", **_numbers(of_model)})
        for outcome in of_model:
            case = Xml.SubElement(
                suite, "testcase", classname=f"{stack}.{model}", name=outcome.name, time=f"{outcome.seconds:.2f}"
            )
            if outcome.verdict == "failed":
                failure = Xml.SubElement(case, "failure", message=_clean(outcome.detail))
                failure.text = _clean(f"cause: {outcome.cause}\nfix: {outcome.fix}")
            elif outcome.verdict == "skipped":
                Xml.SubElement(case, "skipped", message=_clean(outcome.detail))
            else:
                Xml.SubElement(case, "system-out").text = _clean(outcome.detail)
    Xml.indent(root)
    return Xml.tostring(root, encoding="utf-8", xml_declaration=True)


def _numbers(outcomes: Sequence[Outcome]) -> dict[str, str]:
    numbers = count(outcomes)
    return {
        "tests": str(len(outcomes)),
        "failures": str(numbers["failed"]),
        "skipped": str(numbers["skipped"]),
        "time": f"{sum(outcome.seconds for outcome in outcomes):.2f}",
    }


def _clean(text: str) -> str:
    """The text without control characters that XML 1.0 does not allow: answers may contain anything."""
    return "".join(
        c for c in text if c in "\t\n" or (c >= " " and c not in "\ufffe\uffff" and not "\ud800" <= c <= "\udfff")
    )
