"""Turns the rules into policies, and the policies into the server that the engine calls.

Every rule is a CrossGuard policy of its own, so that its name, level, severity and parameters are what the engine,
``--policy-pack-config`` and Pulumi Cloud show. The SDK's server hands every resource to every policy and deserialises
its inputs anew each time, whatever its type: forty policies would cost a program with KServe's CRDs as individual
objects half a minute (``benchmarks/policies.py`` prints it). So :class:`Analyzer` reads the inputs itself, once
(:mod:`policies.wire`), chooses the rules that cover what it found, and asks an SDK server that has only their policies,
with a request that holds no inputs. Few policies that dispatch would be as cheap, but then no rule could be configured
or switched off by its name.

Rules about the whole program judge *inputs*, collected while the engine shows resource after resource: in a preview
``AnalyzeStack`` brings outputs, which are empty as long as the cluster does not exist.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, cast

import grpc
import pulumi
from google.protobuf import empty_pb2, json_format
from pulumi.runtime import proto
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
from pulumi_policy.policy import _PolicyAnalyzerServicer  # pyright: ignore[reportPrivateUsage]
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError

from llmd_gke import redaction
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from policies import wire
from policies.extract import kind_in, subjects
from policies.rules import ALL, page_of
from policies.rules.rule import CRD, Rule, Settings, Subject
from policies.stack_inputs import StackInputs

if TYPE_CHECKING:
    from pulumi.runtime.proto import analyzer_pb2

NAME = "llmd-gke"
VERSION = "0.1.0"

CRD_FIELDS = ("apiVersion", "kind", "metadata")
"""The fields of a CustomResourceDefinition that rules read. Its schema may have several megabytes."""

_shown: ContextVar[Sequence[Subject]] = ContextVar("_shown", default=())
"""The objects of the resource that the SDK server is checking."""


LONGEST_MESSAGE = 2048
"""Maximum bytes of a message about one object."""


class NotYetKnown(UnknownValueError):
    """Raised at the end by a policy that could not check everything; the SDK turns it into an advisory message."""

    def __init__(self, why: str) -> None:
        super().__init__(UNKNOWN_STRING_VALUE, [])
        self.message = why


def message(rule: Rule, label: str, finding: Finding) -> str:
    """The message: the problem and its location, what is allowed, the fix, and a link to the rule's documentation."""
    parts = [f"{label}: {finding.problem}."]
    if finding.allowed:
        parts.append(f"Allowed: {finding.allowed}.")
    if finding.fix:
        parts.append(f"Fix: {finding.fix}.")
    parts.append(f"See {page_of(rule)}")
    return " ".join(parts)


def policy(rule: Rule, stack_inputs: StackInputs) -> Policy:
    """The CrossGuard policy for a rule."""
    schema = PolicyConfigSchema({p.name: p.schema for p in rule.parameters}) if rule.parameters else None
    level = _level(rule, rule.settings({}, _stack()))
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
        settings = _settings(rule, args.get_config())
        # Notes of one rule are nothing to the next: each gets nodes of its own.
        checked = [replace(one, node=Input(one.node.value)) for one in _shown.get() if rule.covers(one)]
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
        settings = _settings(rule, args.get_config())
        program = stack_inputs.program()
        uncertain: list[str] = []
        try:
            for stack_finding in check_stack(program, settings):
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
    # The text of the error may hold an input, and with it a secret: its type must do.
    return f"this rule failed on the object ({type(error).__name__}): this is a bug in the rule, please report it"


def _stack() -> str:
    """The stack's name, which the engine passes to the pack's process."""
    return os.environ.get("PULUMI_STACK", "")


def _level(rule: Rule, settings: Settings) -> EnforcementLevel:
    production = rule.level == "production" and settings.is_production
    return EnforcementLevel.MANDATORY if rule.level == "mandatory" or production else EnforcementLevel.ADVISORY


def _settings(rule: Rule, config: Mapping[str, object]) -> Settings:
    return rule.settings(config, pulumi.get_stack())


class PolicyServer(Protocol):
    """The part of the SDK's server that we use, typed: the SDK has no type hints for it."""

    def Analyze(self, request: analyzer_pb2.AnalyzeRequest, _context: object) -> analyzer_pb2.AnalyzeResponse:  # noqa: N802
        """Checks a resource."""
        ...

    def Configure(self, request: analyzer_pb2.ConfigureAnalyzerRequest, _context: object) -> empty_pb2.Empty:  # noqa: N802
        """Applies the pack's configuration."""
        ...


class _Servicer(_PolicyAnalyzerServicer):
    """The SDK's server, with levels that depend on the stack."""

    def __init__(self, policies: list[Policy], rules: Mapping[str, Rule]) -> None:
        super().__init__(NAME, VERSION, policies, EnforcementLevel.ADVISORY)
        self._rules = rules

    def _get_enforcement_level(self, policy: Policy) -> EnforcementLevel:
        """The configured level, or else the rule's own.

        The engine configures every policy; to one without configuration it passes the level that the pack reported.
        That is nobody's choice: if the rule's level depends on the stack, the configured ``stacks`` decide.
        """
        level = super()._get_enforcement_level(policy)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        rule = self._rules[policy.name]
        if rule.level != "production" or level != policy.enforcement_level:
            return level
        config = cast("Mapping[str, object]", self._get_policy_config(policy.name) or {})  # pyright: ignore[reportUnknownMemberType]
        return _level(rule, _settings(rule, config))


class Analyzer(_PolicyAnalyzerServicer):
    """The pack's server, which delegates to one SDK server for each set of rules that applies to a resource."""

    def __init__(self, rules: Iterable[Rule] = ALL) -> None:
        self.rules = {rule.name: rule for rule in rules}
        self.stack_inputs = StackInputs([rule for rule in self.rules.values() if rule.check_stack is not None])
        self._policies = {name: policy(rule, self.stack_inputs) for name, rule in self.rules.items()}
        super().__init__(NAME, VERSION, list(self._policies.values()), EnforcementLevel.ADVISORY)
        self._single = [rule for rule in self.rules.values() if rule.check_resource is not None]
        self._servers: dict[tuple[str, ...], PolicyServer] = {}
        self._configuration: analyzer_pb2.ConfigureAnalyzerRequest | None = None

    def _server(self, names: tuple[str, ...]) -> PolicyServer:
        if names not in self._servers:
            policies = [self._policies[name] for name in names]
            server = cast("PolicyServer", _Servicer(policies, self.rules))
            if self._configuration is not None:
                server.Configure(self._configuration, None)
            self._servers[names] = server
        return self._servers[names]

    def Analyze(self, request: analyzer_pb2.AnalyzeRequest, _context: object) -> analyzer_pb2.AnalyzeResponse:  # noqa: N802
        """Checks a resource, and stores the inputs that rules about the whole program need."""
        is_crd = kind_in(request.type, wire.inputs(request.properties, CRD_FIELDS[:2])) == CRD
        inputs = wire.inputs(request.properties, CRD_FIELDS if is_crd else None)
        if is_crd and "spec" in request.properties.fields:
            inputs["spec"] = {}
        protect = request.options.protect
        extracted = list(subjects(request.type, inputs, urn=request.urn, name=request.name, protect=protect))
        if self.stack_inputs.wants(request.type, extracted):
            self.stack_inputs.add(extracted, request.urn, request.type)
            self.stack_inputs.secrets.update(wire.secret_texts(inputs))
        names = tuple(rule.name for rule in self._single if any(rule.covers(subject) for subject in extracted))
        if not names:
            return proto.AnalyzeResponse()
        bare = proto.AnalyzeRequest(type=request.type, urn=request.urn, name=request.name, options=request.options)
        token = _shown.set(extracted)
        try:
            response = self._server(names).Analyze(bare, _context)
        finally:
            _shown.reset(token)
        return _without_secrets(response, lambda: wire.secret_texts(inputs))

    def AnalyzeStack(self, request: analyzer_pb2.AnalyzeStackRequest, _context: object) -> analyzer_pb2.AnalyzeResponse:  # noqa: N802
        """Checks the program by the inputs collected so far. The outputs in the request are not read."""
        bare = proto.AnalyzeStackRequest(
            resources=[
                proto.AnalyzerResource(type=resource.type, urn=resource.urn, name=resource.name)
                for resource in request.resources
            ]
        )
        response = super().AnalyzeStack(bare, _context)  # pyright: ignore[reportUnknownMemberType]
        return _without_secrets(response, lambda: self.stack_inputs.secrets)

    def Remediate(self, request: analyzer_pb2.AnalyzeRequest, _context: object) -> analyzer_pb2.RemediateResponse:  # noqa: N802, ARG002
        """Does nothing, because no rule changes inputs. The SDK would deserialise every resource before finding that
        out.
        """
        return proto.RemediateResponse()

    def Configure(  # noqa: N802
        self, request: analyzer_pb2.ConfigureAnalyzerRequest, _context: grpc.ServicerContext
    ) -> empty_pb2.Empty:
        """Applies the pack's configuration, or aborts with an error message."""
        for name, config in request.policyConfig.items():
            if name != "all" and name not in self.rules:
                near = difflib.get_close_matches(name, self.rules, 1)
                hint = f"did you mean {near[0]}?" if near else f"available rules: {', '.join(sorted(self.rules))}"
                _context.abort(
                    grpc.StatusCode.INVALID_ARGUMENT, f"policy pack {NAME} has no rule named {name!r}; {hint}"
                )
            if name in self.rules:
                try:
                    self.rules[name].settings(json_format.MessageToDict(config.properties))
                except TypeError as wrong:
                    _context.abort(
                        grpc.StatusCode.INVALID_ARGUMENT, f"policy pack {NAME}: {wrong}. See docs/policies.md"
                    )
        self._configuration = request
        for server in self._servers.values():
            server.Configure(request, _context)
        return super().Configure(request, _context)  # pyright: ignore[reportUnknownMemberType]


def _without_secrets(
    response: analyzer_pb2.AnalyzeResponse, secrets: Callable[[], Iterable[str]]
) -> analyzer_pb2.AnalyzeResponse:
    """Removes values that the wire marks as secret from every message, as a safety net: rules do not quote them.

    Also removed are texts that look like secrets, and characters that control a terminal. A message has at most 2 KB.
    """
    if response.diagnostics:
        texts = set(secrets())
        for diagnostic in response.diagnostics:
            text = redaction.without(diagnostic.message, texts, "[secret]")
            diagnostic.message = _shortened(redaction.printable(redaction.masked(text)))
    return response


def _shortened(text: str) -> str:
    """The text without its middle if it is too long: the end contains the fix."""
    length = len(text)
    while len(text.encode()) > LONGEST_MESSAGE:
        length = length * 9 // 10
        text = f"{text[: length * 2 // 3]} ... {text[-(length // 3) :]}"
    return text
