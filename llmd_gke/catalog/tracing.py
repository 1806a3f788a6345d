"""Traces of requests: values that KServe, the servers and GKE's managed OpenTelemetry accept.

Sources: kserve ``pkg/controller/v1alpha2/llmisvc/tracing.go`` and ``config/llmisvcconfig/config-llm-tracing.yaml``
@v0.20.0; gateway-api-inference-extension ``pkg/common/observability/tracing/telemetry.go`` @v1.5.0;
https://docs.cloud.google.com/kubernetes-engine/docs/how-to/managed-otel-gke (read 2026-11).
"""

from __future__ import annotations

EXPORTER = "otlp"
SAMPLER = "parentbased_traceidratio"
"""The only sampler that the endpoint picker supports. Clients that send a sampled ``traceparent`` are always traced."""
DEFAULT_RATIO = 0.05
"""Share of requests that is traced (0 to 1): KServe's default."""

GRPC_PORT = 4317
MANAGED_NAMESPACE = "gke-managed-otel"
MANAGED_ENDPOINT = f"http://opentelemetry-collector.{MANAGED_NAMESPACE}.svc.cluster.local:{GRPC_PORT}"
"""GKE's own collector, which writes to Cloud Trace."""
MANAGED_SCOPE = "COLLECTION_AND_INSTRUMENTATION_COMPONENTS"
"""``managedOpentelemetryConfig.scope`` of a cluster that has that collector."""
MANAGED_SINCE = "1.34.1-gke.2178000"

ARGUMENTS = ("--otlp-traces-endpoint", "--collect-detailed-traces")
VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_EXPORTER", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG")
"""Variables that KServe adds to the server's container, unless it has them already."""
