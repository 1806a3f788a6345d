"""Messages of the pack: problem, location, what is allowed, the fix, a link; without secrets, and short."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from llmd_gke import redaction
from llmd_gke.rules.finding import Finding
from policies.groups import page_of
from policies.rules.rule import Rule

if TYPE_CHECKING:
    from pulumi.runtime.proto import analyzer_pb2


LONGEST_MESSAGE = 2048
"""Maximum bytes of a message about one object."""


def message(rule: Rule, label: str, finding: Finding) -> str:
    """The message: the problem and its location, what is allowed, the fix, and a link to the rule's documentation."""
    parts = [f"{label}: {finding.problem}."]
    if finding.allowed:
        parts.append(f"Allowed: {finding.allowed}.")
    if finding.fix:
        parts.append(f"Fix: {finding.fix}.")
    parts.append(f"See {page_of(rule)}")
    return " ".join(parts)


def without_secrets(
    response: analyzer_pb2.AnalyzeResponse, secrets: Callable[[], Iterable[str]]
) -> analyzer_pb2.AnalyzeResponse:
    """Removes values that the engine marked as secret from every message, as a safety net: rules do not quote them."""
    if response.diagnostics:
        texts = set(secrets())
        for diagnostic in response.diagnostics:
            diagnostic.message = printable(diagnostic.message, texts)
    return response


def printable(text: str, secrets: Collection[str] = ()) -> str:
    """The text without these secrets, what looks like one, and characters that control a terminal; at most 2 KB."""
    return _shortened(redaction.printable(redaction.masked(redaction.without(text, secrets, "[secret]"))))


def _shortened(text: str) -> str:
    """The text, without its middle if it is too long: the end contains the fix."""
    length = len(text)
    while len(text.encode()) > LONGEST_MESSAGE:
        length = length * 9 // 10
        text = f"{text[: length * 2 // 3]} ... {text[-(length // 3) :]}"
    return text
