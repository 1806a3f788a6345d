"""Turns the rules into policies and the policies into the server the engine talks to.

Every rule is a CrossGuard policy of its own, so that its name, level, severity and parameters are what the engine,
``--policy-pack-config`` and Pulumi Cloud show. The SDK's server hands every resource to every policy and deserialises
its inputs anew each time, whatever its type: forty policies would cost a program with KServe's CRDs as individual
objects half a minute (``benchmarks/policies.py`` prints it). So :class:`Analyzer` keeps one SDK server per kind of
object, each with the policies that look at that kind, and hands on only what concerns them. Few policies that dispatch
would be as cheap, but then no rule could be configured or switched off by its name.

Rules about the whole program judge *inputs*, collected while the engine shows resource after resource: in a preview
``AnalyzeStack`` brings outputs, which are empty as long as the cluster does not exist.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol, cast

import grpc
import pulumi
from google.protobuf import empty_pb2, json_format, struct_pb2
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
from pulumi_policy.deserialize import deserialize_properties
from pulumi_policy.policy import _PolicyAnalyzerServicer  # pyright: ignore[reportPrivateUsage]
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError, unknown_checking_proxy

from llmd_gke.rules.finding import Finding
from policies.extract import is_bundle, subjects, tree
from policies.rules import ALL
from policies.rules.rule import CRD, Kind, Rule, Settings, Subject
from policies.stack_inputs import Collected

if TYPE_CHECKING:
    from pulumi.runtime.proto import analyzer_pb2

NAME = "llmd-gke"
VERSION = "0.1.0"

SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - how the wire marks secrets
"""https://github.com/pulumi/pulumi/blob/v3.259.0/sdk/go/common/resource/properties.go"""

SHORTEST_SECRET = 4
"""Shorter texts are not taken out of messages: they would be found inside ordinary words."""

CRD_FIELDS = ("apiVersion", "kind", "metadata")
"""What rules look at in a CustomResourceDefinition. Its schema may have megabytes."""


class Undecided(UnknownValueError):
    """Raised last by a policy that could not judge everything: the SDK turns it into an advisory message."""

    def __init__(self, why: str) -> None:
        super().__init__(UNKNOWN_STRING_VALUE, [])
        self.message = why


def message(label: str, finding: Finding) -> str:
    """What is wrong and where, what is allowed, and the fix."""
    parts = [f"{label}: {finding.problem}."]
    if finding.allowed:
        parts.append(f"Allowed: {finding.allowed}.")
    if finding.fix:
        parts.append(f"Fix: {finding.fix}.")
    return " ".join(parts)


def policy(rule: Rule, collected: Collected) -> Policy:
    """The policy that a rule becomes."""
    schema = PolicyConfigSchema({p.name: p.schema for p in rule.parameters}) if rule.parameters else None
    level = EnforcementLevel.MANDATORY if rule.level == "mandatory" else EnforcementLevel.ADVISORY
    validate = _validate(rule) if rule.check is not None else _validate_program(rule, collected)
    make = ResourceValidationPolicy if rule.check is not None else StackValidationPolicy
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
    check = rule.check
    assert check is not None  # noqa: S101 - narrowed by the caller

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        settings = _settings(rule, args.get_config())
        found = subjects(
            args.resource_type,
            tree(args.props),
            urn=args.urn,
            name=args.name,
            protect=bool(args.opts.protect),
        )
        judged = [subject for subject in found if subject.kind in rule.kinds]
        if not judged:
            args.not_applicable(f"not a kind of object that {rule.name} is about")
        unknown: list[str] = []
        for subject in judged:
            for finding in _guarded(lambda subject=subject: check(subject, settings)):
                if finding.severity == "error":
                    report(message(subject.label, finding), None)
            notes = subject.node.notes
            for wrong in notes.malformed:
                report(message(subject.label, _misshapen(rule, wrong)), None)
            unknown += [f"{subject.label}: {path}" for path in notes.unknown]
        if unknown:
            raise Undecided(f"not known yet: {', '.join(unknown)}. It is judged as soon as the value is known.")

    return validate


def _validate_program(rule: Rule, collected: Collected) -> Callable[[StackValidationArgs, ReportViolation], None]:
    judge = rule.judge
    assert judge is not None  # noqa: S101 - narrowed by the caller

    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        settings = _settings(rule, args.get_config())
        program = collected.program()
        unsure: list[str] = []
        try:
            for verdict in judge(program, settings):
                text = message(verdict.subject.label, verdict.finding)
                if verdict.unsure:
                    unsure.append(f"{text} This is not certain: {verdict.unsure}")
                else:
                    report(text, verdict.subject.urn)
        except Exception as error:
            report(_broken(error), None)
        for subject in program.of(*rule.kinds):
            unsure += [f"{subject.label}: {path} is not known yet." for path in subject.node.notes.unknown]
            for wrong in subject.node.notes.malformed:
                report(message(subject.label, _misshapen(rule, wrong)), subject.urn)
        unseen = collected.unseen((resource.urn, resource.resource_type) for resource in args.resources)
        unsure += [f"{urn} was not shown to the pack." for urn in unseen]
        if unsure:
            raise Undecided(" ".join(unsure))

    return validate


def _misshapen(rule: Rule, wrong: str) -> Finding:
    return Finding(rule.name, wrong, fix="give it the shape its API asks for")


def _guarded(check: Callable[[], Iterable[Finding]]) -> Iterable[Finding]:
    found: list[Finding] = []
    try:
        found.extend(check())
    except Exception as error:
        found.append(Finding("rule-failed", _broken(error)))
    return found


def _broken(error: Exception) -> str:
    # The text of the error may hold an input, and with it a secret: its type must do.
    return f"this rule failed on the object ({type(error).__name__}): a defect of the rule, please report it"


def _settings(rule: Rule, config: Mapping[str, object]) -> Settings:
    return rule.settings(config, pulumi.get_stack())


class Server(Protocol):
    """What is used of the SDK's server, which has no types."""

    def Analyze(self, request: analyzer_pb2.AnalyzeRequest, _context: object) -> analyzer_pb2.AnalyzeResponse:  # noqa: N802
        """Judges a resource."""
        ...

    def Configure(self, request: analyzer_pb2.ConfigureAnalyzerRequest, _context: object) -> empty_pb2.Empty:  # noqa: N802
        """Takes configuration."""
        ...


class Analyzer(_PolicyAnalyzerServicer):
    """The pack's server: an SDK server for each kind of object, each with the policies about that kind."""

    def __init__(self, rules: Iterable[Rule] = ALL) -> None:
        self.rules = {rule.name: rule for rule in rules}
        self.collected = Collected([rule for rule in self.rules.values() if rule.judge is not None])
        policies = {name: policy(rule, self.collected) for name, rule in self.rules.items()}
        super().__init__(NAME, VERSION, list(policies.values()), EnforcementLevel.ADVISORY)
        single = [rule for rule in self.rules.values() if rule.check is not None]
        kinds = {kind for rule in single for kind in rule.kinds}
        self._bundles = self._servicer([policies[rule.name] for rule in single])
        self._by_kind = {
            kind: self._servicer([policies[rule.name] for rule in single if kind in rule.kinds]) for kind in kinds
        }

    @staticmethod
    def _servicer(policies: list[Policy]) -> Server:
        return cast("Server", _PolicyAnalyzerServicer(NAME, VERSION, policies, EnforcementLevel.ADVISORY))

    def Analyze(self, request: analyzer_pb2.AnalyzeRequest, _context: object) -> analyzer_pb2.AnalyzeResponse:  # noqa: N802
        """Judges a resource, and keeps what rules about the whole program will want."""
        kind = _kind(request)
        if kind == CRD:
            request = _only(request, CRD_FIELDS)
        if self.collected.wants(request.type, kind):
            self.collected.add(_subjects(request), request.urn, request.type)
            self.collected.secrets.update(secret_texts(request.properties))
        servicer = self._bundles if is_bundle(request.type) else self._by_kind.get(kind) if kind else None
        if servicer is None:
            return proto.AnalyzeResponse()
        return _without_secrets(servicer.Analyze(request, _context), lambda: secret_texts(request.properties))

    def AnalyzeStack(self, request: analyzer_pb2.AnalyzeStackRequest, _context: object) -> analyzer_pb2.AnalyzeResponse:  # noqa: N802
        """Judges the program by the inputs collected so far. The outputs in the request are left out unread."""
        bare = proto.AnalyzeStackRequest(
            resources=[
                proto.AnalyzerResource(type=resource.type, urn=resource.urn, name=resource.name)
                for resource in request.resources
            ]
        )
        response = super().AnalyzeStack(bare, _context)  # pyright: ignore[reportUnknownMemberType]
        return _without_secrets(response, lambda: self.collected.secrets)

    def Remediate(self, request: analyzer_pb2.AnalyzeRequest, _context: object) -> analyzer_pb2.RemediateResponse:  # noqa: N802, ARG002
        """Nothing: no rule changes inputs. The SDK would deserialise every resource before finding that out."""
        return proto.RemediateResponse()

    def Configure(  # noqa: N802
        self, request: analyzer_pb2.ConfigureAnalyzerRequest, _context: grpc.ServicerContext
    ) -> empty_pb2.Empty:
        """Takes the pack's configuration, or says what is wrong with it."""
        for name, config in request.policyConfig.items():
            if name != "all" and name not in self.rules:
                near = difflib.get_close_matches(name, self.rules, 1)
                hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(sorted(self.rules))}"
                _context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"policy pack {NAME} has no rule {name!r}; {hint}")
            if name in self.rules:
                try:
                    self.rules[name].settings(json_format.MessageToDict(config.properties))
                except TypeError as wrong:
                    _context.abort(
                        grpc.StatusCode.INVALID_ARGUMENT, f"policy pack {NAME}: {wrong}. See docs/policies.md"
                    )
        for servicer in (self._bundles, *self._by_kind.values()):
            servicer.Configure(request, _context)
        return super().Configure(request, _context)  # pyright: ignore[reportUnknownMemberType]


def _kind(request: analyzer_pb2.AnalyzeRequest) -> Kind | None:
    """The kind of the object in a request, read without deserialising the rest."""
    fields = request.properties.fields
    written = {key: fields[key].string_value for key in ("apiVersion", "kind") if key in fields}
    return next((s.kind for s in subjects(request.type, {k: v for k, v in written.items() if v})), None)


def _only(request: analyzer_pb2.AnalyzeRequest, keys: Iterable[str]) -> analyzer_pb2.AnalyzeRequest:
    small = proto.AnalyzeRequest(type=request.type, urn=request.urn, name=request.name, options=request.options)
    for key in keys:
        if key in request.properties.fields:
            small.properties.fields[key].CopyFrom(request.properties.fields[key])
    return small


def _subjects(request: analyzer_pb2.AnalyzeRequest) -> list[Subject]:
    inputs = deserialize_properties(json_format.MessageToDict(request.properties))
    found = subjects(request.type, tree(unknown_checking_proxy(inputs)), urn=request.urn, name=request.name)
    return list(found)


def _without_secrets(
    response: analyzer_pb2.AnalyzeResponse, secrets: Callable[[], Iterable[str]]
) -> analyzer_pb2.AnalyzeResponse:
    """Takes values that the wire marks as secret out of every message. Rules do not quote them: this is the net."""
    if response.diagnostics:
        for secret in sorted(secrets(), key=len, reverse=True):
            for diagnostic in response.diagnostics:
                diagnostic.message = diagnostic.message.replace(secret, "[secret]")
    return response


def secret_texts(properties: struct_pb2.Struct) -> set[str]:
    """The texts inside every value marked as secret."""
    found: set[str] = set()

    def walk(value: object, secret: bool) -> None:
        if isinstance(value, Mapping):
            mapping = cast("Mapping[str, object]", value)
            inside = secret or SECRET_SIGNATURE in mapping.values()
            for item in mapping.values():
                walk(item, inside)
        elif isinstance(value, list):
            for item in cast("list[object]", value):
                walk(item, secret)
        elif secret and isinstance(value, str) and len(value) >= SHORTEST_SECRET and value != SECRET_SIGNATURE:
            found.add(value)

    walk(json_format.MessageToDict(properties), False)
    return found
