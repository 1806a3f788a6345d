"""ComputeClass, by which GKE's cluster autoscaler orders node pools, as a definition of our own making.

Google publishes no definition. Fields are those of the page
https://docs.cloud.google.com/kubernetes-engine/docs/reference/crds/computeclass (read 2026-11-22), as far as a class of
own node pools needs them: unlike Google's, this one refuses rules by which GKE would create node pools.
"""

from __future__ import annotations

from localcloud.gke_gateway.crds import frame
from localcloud.product import compute_class
from localcloud.providers.protocol.values import JsonObject

_TEXT: JsonObject = {"type": "string", "minLength": 1}
_FLAG: JsonObject = {"type": "boolean"}


def definition() -> JsonObject:
    """The CustomResourceDefinition of ComputeClass."""
    priority: JsonObject = {
        "type": "object",
        "required": ["nodepools"],
        "properties": {"nodepools": {"type": "array", "minItems": 1, "items": _TEXT}},
    }
    spec: JsonObject = {
        "type": "object",
        "required": ["priorities"],
        "properties": {
            "priorities": {"type": "array", "minItems": 1, "items": priority},
            "activeMigration": {"type": "object", "properties": {"optimizeRulePriority": _FLAG}},
            "nodePoolAutoCreation": {"type": "object", "properties": {"enabled": _FLAG}},
            "whenUnsatisfiable": {"type": "string", "enum": ["DoNotScaleUp", "ScaleUpAnyway"]},
        },
    }
    schema = frame.object_schema(spec)
    group, kind, plural = compute_class.GROUP, compute_class.KIND, compute_class.PLURAL
    return frame.definition(group, kind, plural, schema=schema, labels={}, namespaced=False)
