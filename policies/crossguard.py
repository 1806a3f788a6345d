"""From a rule to a CrossGuard policy: a policy of one resource or of the stack, its level, and its schema."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar

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

from policies.judgement import judge_objects, judge_program
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
    level = level_of(rule, rule.settings({}, os.environ.get("PULUMI_STACK", "")))
    validate = _validate(rule) if rule.check_object is not None else _validate_program(rule, stack_inputs)
    make = ResourceValidationPolicy if rule.check_object is not None else StackValidationPolicy
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
    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        settings = settings_of(rule, args.get_config())
        covered = [one for one in shown.get() if rule.covers(one)]
        if not covered:
            args.not_applicable(f"{rule.name} does not apply to this kind of object")
        judgement = judge_objects(rule, covered, settings)
        for subject, finding in judgement.violations:
            report(message(rule, subject.label, finding), None)
        if judgement.uncertain:
            raise NotYetKnown(f"{' '.join(judgement.uncertain)} It is checked as soon as the value is known.")

    return validate


def _validate_program(rule: Rule, stack_inputs: StackInputs) -> Callable[[StackValidationArgs, ReportViolation], None]:
    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        judgement = judge_program(rule, stack_inputs.program(), settings_of(rule, args.get_config()))
        for subject, finding in judgement.violations:
            report(message(rule, subject.label, finding), subject.urn or None)
        unseen = stack_inputs.unseen((resource.urn, resource.resource_type) for resource in args.resources)
        uncertain = [*judgement.uncertain, *(f"{urn} was not shown to the pack." for urn in unseen)]
        if uncertain:
            raise NotYetKnown(" ".join(uncertain))

    return validate


def level_of(rule: Rule, settings: ParameterValues) -> EnforcementLevel:
    """The level of a rule in a stack."""
    return EnforcementLevel.MANDATORY if rule.is_mandatory(settings) else EnforcementLevel.ADVISORY


def settings_of(rule: Rule, config: Mapping[str, object]) -> ParameterValues:
    """The parameters of a rule as the pack's configuration and the stack's name give them."""
    return rule.settings(config, pulumi.get_stack())
