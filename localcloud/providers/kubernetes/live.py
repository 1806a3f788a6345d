"""Objects as the API server returns them: what was sent, and what the server adds."""

from __future__ import annotations

import base64
import uuid
from datetime import UTC, datetime

from llmd_common.pulumi_signatures import UNKNOWN
from localcloud.providers.kubernetes.objects import KubernetesType, namespace_of
from localcloud.providers.protocol.values import JsonObject, dig, merge, number


def server_metadata(outputs: JsonObject) -> JsonObject:
    """The part of ``metadata`` that only the server writes."""
    return {key: dig(outputs, "metadata", key) for key in ("uid", "resourceVersion", "generation", "creationTimestamp")}


def first_metadata() -> JsonObject:
    """The server's metadata of a new object."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"uid": str(uuid.uuid4()), "resourceVersion": "1", "generation": 1, "creationTimestamp": now}


def next_metadata(record: JsonObject, inputs: JsonObject) -> JsonObject:
    """The server's metadata of a changed object: a new version, and a new generation if its ``spec`` changed."""
    live_metadata = dig(record, "server", "metadata")
    metadata: JsonObject = dict(live_metadata) if isinstance(live_metadata, dict) else {}
    metadata["resourceVersion"] = str((number(metadata, "resourceVersion") or 0) + 1)
    if dig(record, "inputs", "spec") != inputs.get("spec"):
        metadata["generation"] = (number(metadata, "generation") or 0) + 1
    return metadata


def live(kind: KubernetesType, inputs: JsonObject, server: JsonObject) -> JsonObject:
    """The object as the API server would return it: what was sent, and what the server adds."""
    live = merge(inputs, server)
    namespace = namespace_of(kind, inputs)
    if server and namespace:
        live = merge(live, {"metadata": {"namespace": dig(inputs, "metadata", "namespace") or namespace}})
    plain = live.pop("stringData", None) if kind.kind == "Secret" else None
    if isinstance(plain, dict):
        encoded: JsonObject = {
            k: v if v == UNKNOWN else base64.b64encode(str(v).encode()).decode() for k, v in plain.items()
        }
        live = merge(live, {"data": encoded})
    return live
