"""GKE's own kinds as definitions of our own making, of the facts in ``gke.json`` and ``unpublished.yaml``.

Fields, types, limits and values of the policies are those of GoogleCloudPlatform/gke-gateway-api ``config/crd``, which
is not in any package registry (``python -m tests.schema.record_gke`` records them). The rules across fields are written
by hand, after the CEL rules of the same files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import yaml

from localcloud.gke_gateway.resources.objects import BACKEND_POLICY, GATEWAY_POLICY, HEALTH_CHECK_POLICY
from localcloud.providers.protocol.values import JsonObject, JsonValue

FILE = Path(__file__).with_name("gke.json")
UNPUBLISHED = Path(__file__).with_name("unpublished.yaml")
POLICIES = (HEALTH_CHECK_POLICY, BACKEND_POLICY, GATEWAY_POLICY)

Rules = dict[str, dict[str, str]]
_BLOCKS = {"TCP": "tcp", "HTTP": "http", "HTTPS": "https", "HTTP2": "http2", "GRPC": "grpc"}
_PORTS = {
    "USE_FIXED_PORT": "has(self.port) && !has(self.portName)",
    "USE_NAMED_PORT": "!has(self.port) && has(self.portName)",
    "USE_SERVING_PORT": "!has(self.port) && !has(self.portName)",
}
OPEN: JsonObject = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
"""The schema of an object that may have any fields."""
_CONDITIONS: JsonObject = {
    "type": "array",
    "items": {"type": "object", "required": ["type"], "properties": {"type": {"type": "string"}}, **OPEN},
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
}


def definitions() -> list[JsonObject]:
    """The CustomResourceDefinitions of the kinds that GKE brings with the Gateway API and managed Prometheus, and for
    its autoscaler.
    """
    return [definition(kind) for kind in (*POLICIES, "PodMonitoring", "ComputeClass")]


def kinds() -> dict[str, JsonObject]:
    """What is recorded of each policy: its group, names and scope, and the limits of each field by its path."""
    return cast("dict[str, JsonObject]", json.loads(FILE.read_text(encoding="utf-8"))["kinds"])


def unpublished() -> dict[str, JsonObject]:
    """The same of kinds that are written by hand, after Google's pages."""
    return cast("dict[str, JsonObject]", yaml.safe_load(UNPUBLISHED.read_text(encoding="utf-8")))


def definition(kind: str) -> JsonObject:
    """The CustomResourceDefinition of a kind. Raises ``KeyError`` for an unknown one."""
    policy = kinds().get(kind)
    facts = policy or unpublished()[kind]
    root: JsonObject = {}
    for path, limits in _object(facts["fields"]).items():
        # The items of a list are a step of their own: "targetRefs[]".
        *parents, name = path.replace("[]", ".[]").split(".")
        node = root
        for parent in parents:
            node = _object(node["items"] if parent == "[]" else _object(node["properties"])[parent])
        field = dict(_object(limits))
        if rules_here := rules().get(kind, {}).get(path):
            field["x-kubernetes-validations"] = [
                {"rule": rule, "message": message} for rule, message in rules_here.items()
            ]
        if name == "[]":
            node["items"] = field
        else:
            _object(node.setdefault("properties", {}))[name] = field
    spec = _object(_object(root["properties"])["spec"])
    text: JsonObject = {"type": "string"}
    status: JsonObject = {"type": "object", "properties": {"conditions": _CONDITIONS}} if policy else OPEN
    parts: JsonObject = {"apiVersion": text, "kind": text, "metadata": {"type": "object"}, "spec": spec}
    version: JsonObject = {
        "name": facts["version"],
        "served": True,
        "storage": True,
        "schema": {
            "openAPIV3Schema": {"type": "object", "required": ["spec"], "properties": {**parts, "status": status}}
        },
        "subresources": {"status": {}},
    }
    group, plural = facts["group"], _object(facts["names"])["plural"]
    labels: JsonObject = {"labels": {"gateway.networking.k8s.io/policy": "Direct"}} if policy else {}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", **labels},
        "spec": {
            "group": group,
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
            "scope": facts.get("scope", "Namespaced"),
            "versions": [version],
        },
    }


def rules() -> dict[str, Rules]:
    """By kind and field: what has to hold (CEL), and how that is said. A field that is read must be there."""
    blocks = {
        f"spec.default.config.{prefix}HealthCheck": {
            "has(self.portSpecification)": "portSpecification has to be given",
            **{
                f"self.portSpecification != '{way}' || ({needs})": f"{way} does not fit this port or portName"
                for way, needs in _PORTS.items()
            },
        }
        for prefix in _BLOCKS.values()
    }
    types = {
        f"self.type != '{kind}' || has(self.{prefix}HealthCheck)": f"type {kind} needs {prefix}HealthCheck"
        for kind, prefix in _BLOCKS.items()
    }
    interval, timeout = (f"(has(self.{name}) ? self.{name} : 5)" for name in ("checkIntervalSec", "timeoutSec"))
    times = {f"{timeout} <= {interval}": "timeoutSec exceeds checkIntervalSec (5 where one is not given)"}
    services = {"self.all(ref, ref.group == '' && ref.kind == 'Service')": "only a Service can be a target"}
    return {
        HEALTH_CHECK_POLICY: {"spec.default": times, "spec.default.config": types, **blocks},
        "GCPTrafficDistributionPolicy": {"spec.targetRefs": services},
    }


def _object(value: JsonValue) -> JsonObject:
    return cast("JsonObject", value)
