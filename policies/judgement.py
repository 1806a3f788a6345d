"""What a rule says about objects: shared by the policies that the engine calls and by the audit, which needs none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from policies.messages import message
from policies.rules.kinds import MANIFEST
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, Subject

PROGRAM = Subject(MANIFEST, Input(None), resource="the whole program")
"""What a rule about the whole program is about if it fails."""


@dataclass
class Judgement:
    """``violations``: the objects that break the rule. ``uncertain``: what could not be checked, or is not certain."""

    violations: list[tuple[Subject, Finding]] = field(default_factory=list[tuple[Subject, Finding]])
    uncertain: list[str] = field(default_factory=list[str])

    def add_notes(self, rule: Rule, subject: Subject) -> None:
        """Adds what was noted while the rule read the object."""
        fix = "use the type that the API requires"
        self.violations += [(subject, Finding(rule.name, wrong, fix=fix)) for wrong in subject.node.notes.malformed]
        self.uncertain += [f"{subject.label}: {path} is not known yet." for path in subject.node.notes.unknown]


def judge_objects(rule: Rule, subjects: Iterable[Subject], settings: ParameterValues) -> Judgement:
    """What a rule about single objects says. It must cover the objects."""
    assert rule.check_object is not None  # noqa: S101 - narrowed by the caller
    judgement = Judgement()
    for subject in subjects:
        # Each rule gets input nodes of its own, so that unknown values noted by one rule do not affect the next.
        own = replace(subject, node=Input(subject.node.value))
        try:
            found = [one for one in rule.check_object(own, settings) if one.severity == "error"]
        except Exception as error:
            found = [_broken(error)]
        judgement.violations += [(own, one) for one in found]
        judgement.add_notes(rule, own)
    return judgement


def judge_program(rule: Rule, program: Program, settings: ParameterValues) -> Judgement:
    """What a rule about the whole program says. The program's input nodes must be its own."""
    assert rule.check_program is not None  # noqa: S101 - narrowed by the caller
    judgement = Judgement()
    try:
        for one in rule.check_program(program, settings):
            _add(judgement, rule, one)
    except Exception as error:
        judgement.violations.append((PROGRAM, _broken(error)))
    for subject in program.of(*rule.kinds):
        judgement.add_notes(rule, subject)
    return judgement


def _add(judgement: Judgement, rule: Rule, one: StackFinding) -> None:
    if one.finding.severity != "error":
        return  # the settings show warnings
    if one.uncertain_because:
        text = message(rule, one.subject.label, one.finding)
        judgement.uncertain.append(f"{text} This is not certain: {one.uncertain_because}")
    else:
        judgement.violations.append((one.subject, one.finding))


def _broken(error: Exception) -> Finding:
    # The error's text may contain an input, and with it a secret: only its type is shown.
    return Finding(
        "rule-failed",
        f"this rule failed on the object ({type(error).__name__}): this is a bug in the rule, please report it",
    )
