"""PodMonitoring, which GKE brings with managed Prometheus, as a definition of our own making.

Fields, limits and what is refused are those of GoogleCloudPlatform/prometheus-engine ``charts/operator/crds`` @2ffde4ec
(2026-07-02), which is not in any package registry. Only the fields that the program may use are here; a test compares
what both accept where the published definition is at hand.
"""

from __future__ import annotations

from localcloud.gke_gateway.crds import frame
from localcloud.product import monitoring
from localcloud.providers.protocol.values import JsonObject

_TEXT: JsonObject = {"type": "string"}
_TEXTS: JsonObject = {"type": "object", "additionalProperties": _TEXT}
_LABEL = "^[a-zA-Z_][a-zA-Z0-9_]*$"
PROTECTED = (
    "project_id",
    "location",
    "cluster",
    "namespace",
    "job",
    "instance",
    "top_level_controller",
    "top_level_controller_type",
    "__address__",
)
"""Labels that Google sets, and that a PodMonitoring must not set."""


def definition() -> JsonObject:
    """The CustomResourceDefinition of PodMonitoring."""
    spec: JsonObject = {
        "type": "object",
        "required": ["endpoints", "selector"],
        "properties": {
            "endpoints": {"type": "array", "minItems": 1, "maxItems": 10, "items": _endpoint()},
            "filterRunning": {"type": "boolean"},
            "selector": {"type": "object", "properties": {"matchLabels": _TEXTS}},
            "targetLabels": _target_labels(),
        },
    }
    schema = frame.object_schema(spec)
    return frame.definition(monitoring.GROUP, monitoring.POD_MONITORING, "podmonitorings", schema=schema, labels={})


def _endpoint() -> JsonObject:
    secret: JsonObject = {
        "type": "object",
        "required": ["key", "name"],
        "properties": {"key": _TEXT, "name": _TEXT, "namespace": _TEXT},
    }
    kind: JsonObject = {
        "type": "string",
        "x-kubernetes-validations": [{"rule": "self != 'Basic'", "message": "use basicAuth instead of type Basic"}],
    }
    return {
        "type": "object",
        "required": ["interval", "port"],
        "properties": {
            "port": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
            "path": _TEXT,
            "scheme": {"type": "string", "enum": ["http", "https"]},
            "interval": {"type": "string", "format": "duration"},
            "timeout": {"type": "string", "format": "duration"},
            "authorization": {
                "type": "object",
                "properties": {
                    "type": kind,
                    "credentials": {"type": "object", "properties": {"secret": secret}},
                },
            },
        },
        "x-kubernetes-validations": [
            {
                "rule": "!has(self.timeout) || self.timeout <= self.interval",
                "message": "timeout must not be greater than interval",
            }
        ],
    }


def _target_labels() -> JsonObject:
    labels: JsonObject = {
        "type": "string",
        "pattern": _LABEL,
        "x-kubernetes-validations": [
            {
                "rule": " && ".join(f"self != '{label}'" for label in PROTECTED),
                "message": "this label is set by Google",
            }
        ],
    }
    return {
        "type": "object",
        "default": {},
        "properties": {
            "fromPod": {
                "type": "array",
                "maxItems": 100,
                "items": {"type": "object", "required": ["from"], "properties": {"from": _TEXT, "to": labels}},
            },
            "metadata": {
                "type": "array",
                "default": ["container", "pod", "top_level_controller_name", "top_level_controller_type"],
                "items": {
                    "type": "string",
                    "enum": ["container", "node", "pod", "top_level_controller_name", "top_level_controller_type"],
                },
                "x-kubernetes-list-type": "set",
            },
        },
    }
