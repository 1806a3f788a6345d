"""Metrics of models: what Google's collectors scrape, and their access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import pulumi
import pulumi_kubernetes as k8s

from components.cluster import Cluster
from components.kubernetes_objects import create
from llmd_gke.manifests import scraping
from llmd_gke.settings import MonitoringSettings, StackSettings


@dataclass(frozen=True, kw_only=True)
class ScrapingArgs:
    """``namespaces`` of the models; ``settings`` contain the scrape interval."""

    settings: MonitoringSettings
    namespaces: Sequence[str]
    provider: k8s.Provider

    @classmethod
    def of(cls, settings: StackSettings, *, cluster: Cluster) -> Self | None:
        """Those of a stack whose models' metrics are collected."""
        if not settings.monitoring.scrape:
            return None
        return cls(settings=settings.monitoring, namespaces=settings.namespaces, provider=cluster.provider)


class Scraping(pulumi.ComponentResource):
    """``llmd-gke:monitoring:Scraping``: PodMonitorings of model servers and endpoint pickers.

    Each namespace also gets a NetworkPolicy that admits the collectors, an account whose token they send to endpoint
    pickers, and permission to read that token. One ClusterRole and its binding allow the accounts to read ``/metrics``.
    """

    def __init__(self, name: str, args: ScrapingArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:monitoring:Scraping", name, None, opts)
        child = pulumi.ResourceOptions(parent=self, provider=args.provider)
        create(name, scraping.objects(args.namespaces, args.settings.interval_seconds), child)
        self.register_outputs({})
