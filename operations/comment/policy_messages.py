"""Checks a recorded graph with the policy pack: calls the pack's server as the engine does on a preview."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from llmd_gke.graph.resources import Graph

if TYPE_CHECKING:
    from pulumi.runtime.proto import analyzer_pb2


@dataclass(frozen=True)
class PolicyMessage:
    """A message of a policy; ``mandatory`` ones stop ``pulumi up``. ``resource`` is empty for the whole program."""

    policy: str
    mandatory: bool
    resource: str
    message: str


def run_policies(stack: str, graph: Graph) -> list[PolicyMessage]:
    """All messages of the pack about the program of a stack, mandatory ones first."""
    with _as_the_engine_says(stack):
        from google.protobuf import json_format, struct_pb2
        from pulumi.runtime import proto

        from policies.pack import Analyzer

        server = Analyzer()
        policy_messages: list[PolicyMessage] = []
        whole = proto.AnalyzeStackRequest()
        for node in graph.nodes.values():
            properties = json_format.ParseDict(dict(node.inputs), struct_pb2.Struct())
            request = proto.AnalyzeRequest(
                type=node.type,
                urn=node.urn,
                name=node.name,
                properties=properties,
                options=proto.AnalyzerResourceOptions(protect=node.protect),
            )
            policy_messages += _policy_messages(server.Analyze(request, None))
            whole.resources.append(proto.AnalyzerResource(type=node.type, urn=node.urn, name=node.name))
        policy_messages += _policy_messages(server.AnalyzeStack(whole, None))
    return sorted(set(policy_messages), key=lambda one: (not one.mandatory, one.policy, one.resource, one.message))


def _policy_messages(response: analyzer_pb2.AnalyzeResponse) -> list[PolicyMessage]:
    from pulumi.runtime.proto import analyzer_pb2

    return [
        PolicyMessage(
            one.policyName, one.enforcementLevel != analyzer_pb2.ADVISORY, one.urn.split("::")[-1], one.message
        )
        for one in response.diagnostics
    ]


@contextmanager
def _as_the_engine_says(stack: str) -> Generator[None]:
    """Sets the variables by which the engine passes the stack's name to its policy host."""
    names = {"PULUMI_STACK": stack, "PULUMI_PROJECT": "llmd-gke", "PULUMI_DRY_RUN": "true"}
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
