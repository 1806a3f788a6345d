"""Traces: the field of the LLMInferenceService, and the NetworkPolicy that permits sending them."""

from __future__ import annotations

from llmd_gke.catalog import tracing
from llmd_gke.json_types import Json, JsonObject
from llmd_gke.manifests import firewall, naming
from llmd_gke.rules.tracing import receiver
from llmd_gke.settings import ModelSettings, TracesSettings


def spec(traces: TracesSettings) -> JsonObject:
    """``spec.tracing`` of the LLMInferenceService, which KServe turns into arguments and variables of its pods."""
    return {
        "exporter": tracing.EXPORTER,
        "exporterEndpoint": traces.receiver,
        "sampler": tracing.SAMPLER,
        "samplerArg": f"{traces.sampling_ratio:g}",
    }


def network_policy(model: ModelSettings, traces: TracesSettings) -> JsonObject:
    """Lets the pods of a model, its endpoint picker's among them, reach the receiver of their traces, and no more.

    Raises ``ValueError`` for an endpoint that the rules of the settings reject.
    """
    trace_receiver = receiver(traces.receiver)
    if trace_receiver is None:
        raise ValueError(f"{traces.receiver} is not a receiver for traces")
    space, address = trace_receiver.namespace, f"{trace_receiver.address}/32"
    peers: list[Json] = firewall.blocks(address) if space is None else [firewall.in_namespace(space)]
    spec: JsonObject = {
        "podSelector": {"matchLabels": naming.service_labels(model.name)},
        "egress": [{"to": peers, "ports": firewall.ports(trace_receiver.port)}],
    }
    return firewall.policy(f"{model.name}-traces", model.namespace, spec)
