"""AutoscalingMetric, which GKE's managed adapter of metrics reads, as a definition of our own making.

Google publishes no definition. Fields and limits are those of the page
https://docs.cloud.google.com/kubernetes-engine/docs/how-to/autoscale-using-metrics (read 2026-11-22): gauges at an HTTP
endpoint in Prometheus' format, pods selected by labels whose keys have neither dots nor slashes. Only the fields that
the program may use are here. The keys of labels are checked by the adapter: as a rule of the definition the check would
exceed the API server's budget for such rules.
"""

from __future__ import annotations

from localcloud.gke_gateway.crds import frame
from localcloud.product import scaling
from localcloud.providers.protocol.values import JsonObject

_TEXT: JsonObject = {"type": "string", "minLength": 1}


def definition() -> JsonObject:
    """The CustomResourceDefinition of AutoscalingMetric."""
    labels: JsonObject = {"type": "object", "minProperties": 1, "additionalProperties": _TEXT}
    gauge = _object({"name": _TEXT, "prometheusMetricName": _TEXT}, "name")
    endpoint = _object(
        {"port": {"type": "integer", "minimum": 1, "maximum": 65535}, "path": {**_TEXT, "pattern": "^/"}}, "port"
    )
    container = _object(
        {"endpoint": endpoint, "metrics": _list(_object({"gauge": gauge}, "gauge"))}, "endpoint", "metrics"
    )
    selector = _object({"matchLabels": labels}, "matchLabels")
    pod = _object({"selector": selector, "containers": _list(container)}, "selector", "containers")
    spec = _object({"metrics": _list(_object({"pod": pod}, "pod"))}, "metrics")
    schema = frame.object_schema(spec)
    version = scaling.METRIC_VERSION.partition("/")[2]
    return frame.definition(
        scaling.METRIC_GROUP, scaling.METRIC, scaling.METRIC_PLURAL, schema=schema, labels={}, version=version
    )


def _object(properties: JsonObject, *required: str) -> JsonObject:
    return {"type": "object", "required": [*required], "properties": properties}


def _list(items: JsonObject) -> JsonObject:
    return {"type": "array", "minItems": 1, "items": items}
