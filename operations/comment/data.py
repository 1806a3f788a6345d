"""The content of a comment as JSON: written by the job that checks the change, read by the job that posts the comment.

A fork's code may write this document, so the job that posts does not trust it: the schema is strict, everything has a
maximum size, and every text is escaped when it is rendered.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel

from llmd_gke.graph.mermaid import Mark
from operations.comment.changes import Op
from operations.comment.report import Report, Status
from operations.cost.estimate import State
from operations.exits import BadInput

VERSION = 1
LARGEST = 4 * 1024 * 1024
"""Maximum size of a document in bytes. One about a stack in which every resource changes has about 20 KB."""

STACKS, CHANGES, DETAILS, POLICIES, BOXES, EDGES = 200, 2000, 50, 500, 200, 1000
"""Maximum numbers in a document: stacks; per stack changes, policies, boxes and edges; per change details."""


class DataLimits(NamedTuple):
    """Limits on the data of a stack: number of changes, of details per change and of policy messages, and whether it
    has a picture.
    """

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


def _cut(most: int | str) -> BeforeValidator:
    """Cuts reports of our own to a maximum, or to a limit by its name. What comes from elsewhere is not cut: it is
    refused.
    """

    def cut(value: Any, info: ValidationInfo) -> Any:
        limits: DataLimits | None = info.context
        if limits is None:
            return value
        count = getattr(limits, most) if isinstance(most, str) else most
        if isinstance(value, dict):
            return dict(list(cast("dict[str, object]", value).items())[:count])
        return (sorted(cast("Set[Edge]", value)) if isinstance(value, Set) else value)[:count]

    return BeforeValidator(cut)


def _drawn(picture: Any, info: ValidationInfo) -> Any:
    limits: DataLimits | None = info.context
    fits = not limits or not picture or (len(picture.boxes) <= BOXES and len(picture.edges) <= EDGES and limits.drawn)
    return picture if fits else None


Stack = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
Word = Annotated[str, Field(max_length=100), _cut(100)]
Name = Annotated[str, Field(max_length=300), _cut(300)]
Line = Annotated[str, Field(max_length=1000), _cut(1000)]
Text = Annotated[str, Field(max_length=4000), _cut(4000)]
Edge = Annotated[tuple[Name, Name], Strict(False)]
"""Two names, in JSON a list: after a validator in Python, strict Pydantic would refuse that."""
Edges = Annotated[list[Edge], Field(max_length=EDGES), _cut(EDGES)]
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
    details: Annotated[list[Edge], Field(max_length=DETAILS), _cut("details")] = []


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
    first_token: Annotated[dict[Name, Usd], Field(max_length=STACKS), _cut(STACKS)] = {}


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
    changes: Annotated[list[ChangeData], Field(max_length=CHANGES), _cut("changes")]
    planned: bool
    outages: Annotated[list[Line], Field(max_length=STACKS), _cut(STACKS)] = []
    policy_messages: Annotated[list[PolicyData], Field(max_length=POLICIES, alias="policies"), _cut("policies")]
    before: PriceData | None
    after: PriceData | None
    figures_before: FiguresData = FiguresData()
    figures_after: FiguresData = FiguresData()
    picture: Annotated[PictureData | None, BeforeValidator(_drawn)]
    problem: Text
    unknown: Line


class Document(_Strict):
    """The whole comment."""

    version: Literal[1]
    base: Word
    head: Word
    stacks: Annotated[list[StackData], Field(max_length=STACKS), _cut(STACKS)]


REPORT = TypeAdapter(Report)


def document(reports: Sequence[Report], base: str, head: str) -> dict[str, object]:
    """The document for these reports, as JSON data, truncated to what a document may contain."""
    for limits in LIMITS[:-1]:
        made = _document(reports, base, head, limits)
        if len(made.model_dump_json(by_alias=True)) * 2 <= LARGEST:  # printed with spaces, the document is longer
            return made.model_dump(mode="json", by_alias=True)
    return _document(reports, base, head, LIMITS[-1]).model_dump(mode="json", by_alias=True)


def _document(reports: Sequence[Report], base: str, head: str, limits: DataLimits) -> Document:
    made = {"version": VERSION, "base": base, "head": head, "stacks": reports}
    return Document.model_validate(made, strict=False, from_attributes=True, context=limits)


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
