"""From a rule to a CrossGuard policy: a policy of one resource or of the stack, its level, and its schema."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace

import pulumi
from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError

from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from policies.messages import message
from policies.rules.rule import ParameterValues, Rule, Subject
from policies.stack_inputs import StackInputs

shown: ContextVar[Sequence[Subject]] = ContextVar("shown", default=())
"""The objects of the resource that the SDK server is checking."""


class NotYetKnown(UnknownValueError):
    """Raised at the end by a policy that could not check everything; the SDK turns it into an advisory message."""

    def __init__(self, why: str) -> None:
        super().__init__(UNKNOWN_STRING_VALUE, [])
        self.message = why


def policy(rule: Rule, stack_inputs: StackInputs) -> Policy:
    """The CrossGuard policy for a rule."""
    schema = PolicyConfigSchema({p.name: p.schema for p in rule.parameters}) if rule.parameters else None
    level = level_of(rule, rule.settings({}, _stack()))
    validate = _validate(rule) if rule.check_resource is not None else _validate_program(rule, stack_inputs)
    make = ResourceValidationPolicy if rule.check_resource is not None else StackValidationPolicy
    return make(
        rule.name,
        rule.title,
        validate,  # pyright: ignore[reportArgumentType]
        enforcement_level=level,
        config_schema=schema,
        severity=Severity(rule.severity),
        url=rule.sources[0],
    )


def _validate(rule: Rule) -> Callable[[ResourceValidationArgs, ReportViolation], None]:
    check = rule.check_resource
    assert check is not None  # noqa: S101 - narrowed by the caller

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        settings = settings_of(rule, args.get_config())
        # Each rule gets input nodes of its own, so that unknown values noted by one rule do not affect the next.
        checked = [replace(one, node=Input(one.node.value)) for one in shown.get() if rule.covers(one)]
        if not checked:
            args.not_applicable(f"{rule.name} does not apply to this kind of object")
        unknown: list[str] = []
        for subject in checked:
            for finding in _guarded(lambda subject=subject: check(subject, settings)):
                if finding.severity == "error":
                    report(message(rule, subject.label, finding), None)
            notes = subject.node.notes
            for wrong in notes.malformed:
                report(message(rule, subject.label, _wrong_shape(rule, wrong)), None)
            unknown += [f"{subject.label}: {path}" for path in notes.unknown]
        if unknown:
            raise NotYetKnown(f"not known yet: {', '.join(unknown)}. It is checked as soon as the value is known.")

    return validate


def _validate_program(rule: Rule, stack_inputs: StackInputs) -> Callable[[StackValidationArgs, ReportViolation], None]:
    check_stack = rule.check_stack
    assert check_stack is not None  # noqa: S101 - narrowed by the caller

    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        settings = settings_of(rule, args.get_config())
        program = stack_inputs.program()
        uncertain: list[str] = []
        try:
            for stack_finding in check_stack(program, settings):
                if stack_finding.finding.severity != "error":
                    continue  # the settings show warnings
                text = message(rule, stack_finding.subject.label, stack_finding.finding)
                if stack_finding.uncertain_because:
                    uncertain.append(f"{text} This is not certain: {stack_finding.uncertain_because}")
                else:
                    report(text, stack_finding.subject.urn)
        except Exception as error:
            report(_broken(error), None)
        for subject in program.of(*rule.kinds):
            uncertain += [f"{subject.label}: {path} is not known yet." for path in subject.node.notes.unknown]
            for wrong in subject.node.notes.malformed:
                report(message(rule, subject.label, _wrong_shape(rule, wrong)), subject.urn)
        unseen = stack_inputs.unseen((resource.urn, resource.resource_type) for resource in args.resources)
        uncertain += [f"{urn} was not shown to the pack." for urn in unseen]
        if uncertain:
            raise NotYetKnown(" ".join(uncertain))

    return validate


def _wrong_shape(rule: Rule, wrong: str) -> Finding:
    return Finding(rule.name, wrong, fix="use the type that the API requires")


def _guarded(check: Callable[[], Iterable[Finding]]) -> Iterable[Finding]:
    findings: list[Finding] = []
    try:
        findings.extend(check())
    except Exception as error:
        findings.append(Finding("rule-failed", _broken(error)))
    return findings


def _broken(error: Exception) -> str:
    # The error's text may contain an input, and with it a secret: only its type is shown.
    return f"this rule failed on the object ({type(error).__name__}): this is a bug in the rule, please report it"


def _stack() -> str:
    """The stack's name, which the engine passes to the pack's process."""
    return os.environ.get("PULUMI_STACK", "")


def level_of(rule: Rule, settings: ParameterValues) -> EnforcementLevel:
    """The level of a rule in a stack: rules for production are mandatory there, and advisory elsewhere."""
    production = rule.level == "production" and settings.is_production
    return EnforcementLevel.MANDATORY if rule.level == "mandatory" or production else EnforcementLevel.ADVISORY


def settings_of(rule: Rule, config: Mapping[str, object]) -> ParameterValues:
    """The parameters of a rule as the pack's configuration and the stack's name give them."""
    return rule.settings(config, pulumi.get_stack())
