"""The server that the engine calls, made of the policies of all rules.

Every rule is a CrossGuard policy of its own, so that its name, level, severity and parameters are what the engine,
``--policy-pack-config`` and Pulumi Cloud show. The SDK's server hands every resource to every policy and deserialises
its inputs again each time, whatever its type: a program with KServe's CRDs as individual objects
would take half a minute longer. So :class:`Analyzer` reads the inputs itself, once (:mod:`policies.wire`), chooses the
rules that cover what it found, and calls an SDK server that has only their policies, with a request without inputs. A
few dispatching policies would be as cheap, but then no rule could be configured or disabled by its name.

Rules about the whole program check *inputs*, which are collected while the engine passes one resource after another: in
a preview ``AnalyzeStack`` brings outputs, which are empty as long as the cluster does not exist.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol, cast

import grpc
from google.protobuf import empty_pb2, json_format
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel, Policy
from pulumi_policy.policy import _PolicyAnalyzerServicer  # pyright: ignore[reportPrivateUsage]

from policies import wire
from policies.crossguard import level_of, policy, settings_of, shown
from policies.extract import CRD_FIELDS, kind_in, subjects
from policies.groups import ALL
from policies.messages import without_secrets
from policies.rules.kinds import CRD
from policies.rules.rule import Rule
from policies.stack_inputs import StackInputs

if TYPE_CHECKING:
    from pulumi.runtime.proto import analyzer_pb2

NAME = "llmd-gke"
VERSION = "0.1.0"


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
        Nobody chose that level: if the rule's level depends on the stack, the configured ``stacks`` determine it.
        """
        level = super()._get_enforcement_level(policy)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        rule = self._rules[policy.name]
        if rule.level != "production" or level != policy.enforcement_level:
            return level
        config = cast("Mapping[str, object]", self._get_policy_config(policy.name) or {})  # pyright: ignore[reportUnknownMemberType]
        return level_of(rule, settings_of(rule, config))


class Analyzer(_PolicyAnalyzerServicer):
    """The pack's server, which delegates to one SDK server for each set of rules that applies to a resource."""

    def __init__(self, rules: Iterable[Rule] = ALL) -> None:
        self.rules = {rule.name: rule for rule in rules}
        self.stack_inputs = StackInputs([rule for rule in self.rules.values() if rule.check_program is not None])
        self._policies = {name: policy(rule, self.stack_inputs) for name, rule in self.rules.items()}
        super().__init__(NAME, VERSION, list(self._policies.values()), EnforcementLevel.ADVISORY)
        self._single = [rule for rule in self.rules.values() if rule.check_object is not None]
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
        token = shown.set(extracted)
        try:
            response = self._server(names).Analyze(bare, _context)
        finally:
            shown.reset(token)
        return without_secrets(response, lambda: wire.secret_texts(inputs))

    def AnalyzeStack(self, request: analyzer_pb2.AnalyzeStackRequest, _context: object) -> analyzer_pb2.AnalyzeResponse:  # noqa: N802
        """Checks the program by the inputs collected so far. The outputs in the request are not read."""
        bare = proto.AnalyzeStackRequest(
            resources=[
                proto.AnalyzerResource(type=resource.type, urn=resource.urn, name=resource.name)
                for resource in request.resources
            ]
        )
        response = super().AnalyzeStack(bare, _context)  # pyright: ignore[reportUnknownMemberType]
        return without_secrets(response, lambda: self.stack_inputs.secrets)

    def Remediate(self, request: analyzer_pb2.AnalyzeRequest, _context: object) -> analyzer_pb2.RemediateResponse:  # noqa: N802, ARG002
        """Does nothing: no rule changes inputs. The SDK would deserialise every resource before finding that out."""
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
