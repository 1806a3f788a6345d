"""Traces of requests."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from llmd_gke.catalog import tracing
from llmd_gke.settings.sections.base import Section, Word


class TracesSettings(Section):
    """Where traces of requests go, from endpoint pickers and servers: exactly one of ``cloud_trace`` and
    ``endpoint``.
    """

    cloud_trace: bool = False
    """Send traces to Cloud Trace, through the OpenTelemetry collector that GKE manages in the cluster (default:
    false)."""
    endpoint: Word | None = None
    """An OTLP receiver over gRPC: ``http://SERVICE.NAMESPACE.svc.cluster.local:4317`` or ``http://IPV4-ADDRESS:4317``
    (default: none). The Service's port must equal its pods' port, which NetworkPolicies apply to."""
    sampling_ratio: Annotated[float, Field(gt=0, le=1)] = tracing.DEFAULT_RATIO
    """Share of requests that are traced (default: 0.05)."""

    @property
    def receiver(self) -> str:
        """The OTLP endpoint that pods send their traces to, as a URL."""
        return tracing.MANAGED_ENDPOINT if self.endpoint is None else self.endpoint
