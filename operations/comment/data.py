"""The content of a comment as JSON: written by the job that checks the change, read by the job that posts the comment.

A fork's code may write this document, so the job that posts does not trust it: the schema is strict, everything has a
maximum size, and every text is escaped when it is rendered.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from llmd_gke.graph.mermaid import Mark, Picture
from operations.comment.changes import Op
from operations.comment.figures import Figures
from operations.comment.report import Price, Report, Status
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

Stack = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
Name = Annotated[str, Field(max_length=300)]
Line = Annotated[str, Field(max_length=1000)]
Text = Annotated[str, Field(max_length=4000)]
Edge = tuple[Name, Name]
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
    details: Annotated[list[tuple[Name, Name]], Field(max_length=DETAILS)] = []


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
    open: Annotated[str, Field(max_length=100)] = ""


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
    edges: Annotated[list[Edge], Field(max_length=EDGES)]
    marks: Annotated[dict[Name, Mark], Field(max_length=BOXES)]
    thick: Annotated[list[Edge], Field(max_length=EDGES)]
    dotted: Annotated[list[Edge], Field(max_length=EDGES)]

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
    base: Annotated[str, Field(max_length=100)]
    head: Annotated[str, Field(max_length=100)]
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
    stacks = [_data(one, limits) for one in reports[:STACKS]]
    return Document(version=VERSION, base=base[:100], head=head[:100], stacks=stacks)


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


def _data(report: Report, limits: DataLimits) -> StackData:
    return StackData(
        stack=report.stack,
        status=report.status,
        changes=[
            ChangeData(
                op=one.op,
                name=one.name[:300],
                type=one.type[:300],
                details=[(path[:300], step[:300]) for path, step in one.details[: limits.details]],
            )
            for one in report.changes[: limits.changes]
        ],
        planned=report.planned,
        outages=[one[:1000] for one in report.outages[:STACKS]],
        policy_messages=[
            PolicyData(
                policy=one.policy[:300],
                mandatory=one.mandatory,
                resource=one.resource[:300],
                message=one.message[:1000],
            )
            for one in report.policy_messages[: limits.policies]
        ],
        before=_price(report.before),
        after=_price(report.after),
        figures_before=_figures(report.figures_before),
        figures_after=_figures(report.figures_after),
        picture=_picture(report.picture) if limits.drawn else None,
        problem=report.problem[:4000],
        unknown=report.unknown[:1000],
    )


def _price(price: Price | None) -> PriceData | None:
    if price is None:
        return None
    return PriceData(
        totals={
            state: AmountData(nodes=one.nodes, chips=one.chips, usd_per_hour=one.usd_per_hour, open=one.open[:100])
            for state, one in price.totals.items()
        }
    )


def _figures(figures: Figures) -> FiguresData:
    use = figures.budget
    budget = use and BudgetData(limit_usd_per_hour=use.limit_usd_per_hour, most_usd_per_hour=use.most_usd_per_hour)
    first = list(figures.first_token.items())[:STACKS]
    return FiguresData(budget=budget, first_token={name[:300]: float(seconds) for name, seconds in first})


def _picture(picture: Picture | None) -> PictureData | None:
    if picture is None or len(picture.boxes) > BOXES or len(picture.edges) > EDGES:
        return None
    return PictureData(
        boxes=[BoxData(name=one.name[:300], kind=one.kind[:300], holds=one.holds[:300]) for one in picture.boxes],
        edges=sorted(picture.edges),
        marks=dict(sorted(picture.marks.items())),
        thick=sorted(picture.thick),
        dotted=sorted(picture.dotted),
    )
