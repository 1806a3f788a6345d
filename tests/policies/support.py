"""Feeds the pack's server: from YAML examples, from inputs, and from recorded registrations."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml
from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2

from llmd_common.pulumi_signatures import ASSET, OUTPUT, SECRET, SIGNATURE, UNKNOWN
from llmd_gke.graph.resources import Graph
from policies.pack import Analyzer
from policies.rules.example_files import Example


@dataclass(frozen=True)
class Resource:
    """A resource as the engine shows it to a pack."""

    type: str
    name: str
    inputs: Mapping[str, Any]
    protect: bool = False

    @property
    def urn(self) -> str:
        return f"urn:pulumi:dev::test::{self.type}::{self.name}"


@dataclass(frozen=True)
class Diagnostic:
    policy: str
    level: str
    text: str
    urn: str = ""


def secret(value: object) -> dict[str, object]:
    return {SIGNATURE: SECRET, "value": value}


def output(value: object) -> dict[str, object]:
    return {SIGNATURE: OUTPUT, "value": value, "dependencies": []}


def text_asset(text: object) -> dict[str, object]:
    """A file that the program writes itself (``pulumi.StringAsset``)."""
    return {SIGNATURE: ASSET, "text": text, "hash": "0"}


def resources(example: Example) -> list[Resource]:
    """The objects of an example: manifests, or Pulumi's own YAML form (``type`` and ``properties``)."""
    resources: list[Resource] = []
    documents: tuple[Any, ...] = example.objects
    for number, document in enumerate(documents):
        if "properties" in document:
            resources.append(Resource(document["type"], f"r{number}", document["properties"], example.protect))
        else:
            group = document["apiVersion"]
            core = group if "/" in group else f"core/{group}"
            resources.append(Resource(f"kubernetes:{core}:{document['kind']}", f"r{number}", document, example.protect))
    return resources


def written(text: str) -> Example:
    """An example of objects as YAML, which ``---`` divides."""
    return Example(tuple(yaml.safe_load_all(text)))


def replaced(inputs: Mapping[str, Any], path: str, value: object) -> dict[str, Any]:
    """A copy of inputs with another value at a path such as ``spec.rules[0].timeouts``."""
    result = copy.deepcopy(dict(inputs))
    keys = [
        int(part) if part.isdigit() else part for part in re.findall(r"[^.\[\]\"]+", path.removeprefix("properties."))
    ]
    node: Any = result
    for key in keys[:-1]:
        if isinstance(node, dict):
            node.setdefault(key, {})
        node = node[key]
    node[keys[-1]] = value
    return result


def request_of(resource: Resource) -> analyzer_pb2.AnalyzeRequest:
    properties = struct_pb2.Struct()
    properties.update(dict(resource.inputs))
    return analyzer_pb2.AnalyzeRequest(
        type=resource.type,
        urn=resource.urn,
        name=resource.name,
        properties=properties,
        options=analyzer_pb2.AnalyzerResourceOptions(protect=resource.protect),
    )


def _messages(response: analyzer_pb2.AnalyzeResponse, urn: str) -> list[Diagnostic]:
    levels = analyzer_pb2.EnforcementLevel
    return [
        Diagnostic(d.policyName, levels.Name(d.enforcementLevel), d.message, d.urn or urn) for d in response.diagnostics
    ]


def run_pack(program: Iterable[Resource], analyzer: Analyzer | None = None) -> list[Diagnostic]:
    """Everything the pack says about a program: resource by resource, then as a whole, as the engine asks."""
    server = analyzer or Analyzer()
    context: Any = None
    reports: list[Diagnostic] = []
    whole = analyzer_pb2.AnalyzeStackRequest()
    for resource in program:
        reports += _messages(server.Analyze(request_of(resource), context), resource.urn)
        # As on a first preview: no outputs at all.
        whole.resources.append(analyzer_pb2.AnalyzerResource(type=resource.type, urn=resource.urn, name=resource.name))
    return reports + _messages(server.AnalyzeStack(whole, context), "")


def of(diagnostics: Iterable[Diagnostic], rule: str, level: str | None = None) -> list[Diagnostic]:
    return [one for one in diagnostics if one.policy == rule and level in (None, one.level)]


def recorded(graph: Graph) -> list[Resource]:
    """The resources of a recorded program, as the engine would show them."""
    return [Resource(node.type, node.name, _plain(node.inputs), node.protect) for node in graph.nodes.values()]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value


__all__ = [
    "UNKNOWN",
    "Diagnostic",
    "Resource",
    "of",
    "output",
    "recorded",
    "replaced",
    "resources",
    "run_pack",
    "secret",
    "text_asset",
    "written",
]
