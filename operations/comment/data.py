"""The content of a comment as JSON: written by the job that checks the change, read by the job that posts the comment.

A fork's code may write this document, so the job that posts does not trust it: the schema is strict, everything has a
maximum size, and every text is escaped when it is rendered.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel

from llmd_gke.graph.mermaid import Mark
from operations.comment.changes import Op
from operations.comment.figures import Figures
from operations.comment.report import Report, Status
from operations.cost.estimate import State
from operations.exits import BadInput

VERSION = 1
LARGEST = 4 * 1024 * 1024
"""Maximum size of a document in bytes. One about a stack in which every resource changes has about 20 KB."""

STACKS, CHANGES, DETAILS, POLICIES, BOXES, EDGES = 200, 2000, 50, 500, 200, 1000
"""Maximum numbers in a document: stacks; per stack changes, policies, boxes and edges; per change details."""


class DataLimits(NamedTuple):
    """Maximum numbers of changes, of details of each and of policy messages of a stack; and whether it is drawn."""

    changes: int
    details: int
    policies: int
    drawn: bool


LIMITS = (
    DataLimits(CHANGES, DETAILS, POLICIES, True),
    DataLimits(CHANGES, 4, 100, True),
    DataLimits(500, 0, 20, False),
    DataLimits(20, 0, 3, False),
)


def _text(most: int) -> BeforeValidator:
    """Cuts the texts of our own reports. What comes from elsewhere is not cut: it is refused."""

    def cut(text: object, info: ValidationInfo[DataLimits | None]) -> object:
        return text[:most] if info.context and isinstance(text, str) else text

    return BeforeValidator(cut)


Stack = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
Word = Annotated[str, Field(max_length=100), _text(100)]
Name = Annotated[str, Field(max_length=300), _text(300)]
Line = Annotated[str, Field(max_length=1000), _text(1000)]
Text = Annotated[str, Field(max_length=4000), _text(4000)]
Edge = tuple[Name, Name]
Edges = Annotated[list[Edge], Field(max_length=EDGES), AfterValidator(sorted)]
Count = Annotated[int, Field(ge=0, le=10_000_000)]
Usd = Annotated[float, Field(ge=0, le=10_000_000)]


class _Strict(BaseModel):
    """Base of all parts: no unknown fields, no conversion of types."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, alias_generator=to_camel, populate_by_name=True
    )


class ChangeData(_Strict):
    """A resource; ``details`` are paths, each with the old and new value if they may be shown."""

    op: Op
    name: Name
    type: Name
    details: Annotated[list[Edge], Field(max_length=DETAILS)] = []


class PolicyData(_Strict):
    """A message of a policy."""

    policy: Name
    mandatory: bool
    resource: Name
    message: Line


class AmountData(_Strict):
    """Chips and price in a state. ``open``: why there is no price."""

    nodes: Count
    chips: Count
    usd_per_hour: Usd | None
    open: Word = ""


class PriceData(_Strict):
    """The states that a comment shows."""

    totals: dict[State, AmountData]

    @model_validator(mode="after")
    def _every_state(self) -> PriceData:
        if {"running", "full"} - set(self.totals):
            raise ValueError("totals lacks a state")
        return self


class BudgetData(_Strict):
    """A budget and its use, USD per hour."""

    limit_usd_per_hour: Usd
    most_usd_per_hour: Usd | None


class FiguresData(_Strict):
    """The budget of one side, and its simulated seconds to the first token by model."""

    budget: BudgetData | None = None
    first_token: Annotated[dict[Name, Usd], Field(max_length=STACKS)] = {}


class BoxData(_Strict):
    """A component of the picture."""

    name: Name
    kind: Name
    holds: Name = ""


class PictureData(_Strict):
    """The picture of a difference, or of a whole stack. Every edge joins two of its boxes."""

    boxes: Annotated[list[BoxData], Field(max_length=BOXES)]
    edges: Edges
    marks: Annotated[dict[Name, Mark], Field(max_length=BOXES)]
    thick: Edges
    dotted: Edges

    @model_validator(mode="after")
    def _closed(self) -> PictureData:
        names = {box.name for box in self.boxes}
        if len(names) != len(self.boxes) or any(name not in names for edge in self.edges for name in edge):
            raise ValueError("edges and boxes disagree")
        return self


class StackData(_Strict):
    """Everything that a comment says about one stack."""

    stack: Stack
    status: Status
    changes: Annotated[list[ChangeData], Field(max_length=CHANGES)]
    planned: bool
    outages: Annotated[list[Line], Field(max_length=STACKS)] = []
    policy_messages: Annotated[list[PolicyData], Field(max_length=POLICIES, alias="policies")]
    before: PriceData | None
    after: PriceData | None
    figures_before: FiguresData = FiguresData()
    figures_after: FiguresData = FiguresData()
    picture: PictureData | None
    problem: Text
    unknown: Line


class Document(_Strict):
    """The whole comment."""

    version: Literal[1]
    base: Word
    head: Word
    stacks: Annotated[list[StackData], Field(max_length=STACKS)]


REPORT = TypeAdapter(Report)


def document(reports: Sequence[Report], base: str, head: str) -> dict[str, object]:
    """The document for these reports, as JSON data, truncated to what a document may contain."""
    for limits in LIMITS[:-1]:
        made = _document(reports, base, head, limits)
        if len(made.model_dump_json(by_alias=True)) * 2 <= LARGEST:  # printed with spaces, the document is longer
            return made.model_dump(mode="json", by_alias=True)
    return _document(reports, base, head, LIMITS[-1]).model_dump(mode="json", by_alias=True)


def _document(reports: Sequence[Report], base: str, head: str, limits: DataLimits) -> Document:
    stacks = [_cut(report, limits) for report in reports[:STACKS]]
    made = {"version": VERSION, "base": base, "head": head, "stacks": stacks}
    return Document.model_validate(made, strict=False, from_attributes=True, context=limits)


def _cut(report: Report, limits: DataLimits) -> Report:
    picture = report.picture
    drawn = limits.drawn and picture and len(picture.boxes) <= BOXES and len(picture.edges) <= EDGES
    return replace(
        report,
        changes=[replace(one, details=one.details[: limits.details]) for one in report.changes[: limits.changes]],
        outages=report.outages[:STACKS],
        policy_messages=report.policy_messages[: limits.policies],
        figures_before=_first(report.figures_before),
        figures_after=_first(report.figures_after),
        picture=picture if drawn else None,
    )


def _first(figures: Figures) -> Figures:
    return replace(figures, first_token=dict(islice(figures.first_token.items(), STACKS)))


def read(file: Path) -> tuple[list[Report], str, str]:
    """The reports of a document, and its names of base and head.

    Raises ``BadInput`` for a file that is missing, too large, or not such a document; the message quotes nothing of it.
    """
    fix = "Fix: use a file that `llmd-gke comment --output json` of this version wrote"
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise BadInput(f"{file} is not a regular file.\n{fix}")
            content = opened.read(LARGEST + 1)
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.\n{fix}") from None
    if len(content) > LARGEST:
        raise BadInput(f"{file} is larger than {LARGEST} bytes.\n{fix}")
    try:
        document = Document.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise BadInput(
            f"{file} does not contain a comment's data: {error.error_count()} problems, the first one of type "
            f"{first['type']}.\n{fix}"
        ) from None
    return [REPORT.validate_python(one.model_dump()) for one in document.stacks], document.base, document.head
