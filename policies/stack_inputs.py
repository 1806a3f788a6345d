"""Inputs of the program, collected resource by resource for the rules about the whole program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from llmd_gke.rules.inputs import Input
from policies.extract import BUNDLES, kind_of
from policies.rules.kinds import CHART, MANIFEST, RELEASE
from policies.rules.rule import Program, Rule, Subject

HARMLESS_CHARTS = ("cert-manager", "lws", "kserve", "gateway-helm", "ai-gateway-", "front-door-crds")
"""Prefixes of names of charts without policies for InferencePools: their contents need not be known."""


@dataclass
class StackInputs:
    """The objects that the engine has passed so far, by URN: a second registration replaces the first.

    ``secrets`` are the texts in them that the engine marked as secret.
    """

    rules: Sequence[Rule]
    secrets: set[str] = field(default_factory=set[str])
    _subjects: dict[str, list[Subject]] = field(default_factory=dict[str, list[Subject]])
    _unrendered: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self._kinds = {RELEASE, CHART, *(kind for rule in self.rules for kind in rule.kinds)}

    def wants(self, type_: str, subjects: Sequence[Subject]) -> bool:
        """Whether a resource contains, or may contain, what a rule about the whole program needs."""
        return type_ in BUNDLES or any(subject.kind in self._kinds for subject in subjects)

    def add(self, subjects: Iterable[Subject], urn: str, type_: str) -> None:
        """Stores the objects of a resource."""
        self._subjects[urn] = list(subjects)
        for subject in self._subjects[urn]:
            if subject.kind in (RELEASE, CHART):
                chart = subject.node.get("chart").value
                name = chart.rsplit("/", 1)[-1] if isinstance(chart, str) else ""
                if not name.startswith(HARMLESS_CHARTS):
                    self._unrendered[urn] = subject.label
        unread = any(subject.kind == MANIFEST for subject in self._subjects[urn])
        if type_ in BUNDLES and (unread or not self._subjects[urn]):
            self._unrendered[urn] = urn.rsplit("::", 1)[-1]

    def program(self) -> Program:
        """Everything collected so far, with new notes, because several rules read the same objects."""
        subjects = [
            replace(subject, node=Input(subject.node.value))
            for urn in self._subjects
            for subject in self._subjects[urn]
        ]
        return Program(subjects, list(self._unrendered.values()))

    def unseen(self, resources: Iterable[tuple[str, str]]) -> list[str]:
        """URNs of the program's resources, given with their types, that should have been collected and were not."""
        return [urn for urn, type_ in resources if urn not in self._subjects and kind_of(type_) in self._kinds]
