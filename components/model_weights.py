"""A copy of a model's weights in a bucket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pulumi
import pulumi_kubernetes as k8s

from components.cluster import Cluster
from components.kubernetes_objects import create
from llmd_gke.catalog.registries import Mirrors
from llmd_gke.manifests import weights_copy
from llmd_gke.settings import ModelSettings, NetworkSettings, StackSettings


@dataclass(frozen=True, kw_only=True)
class ModelWeightsArgs:
    """``settings`` of a model with ``weightsCache``. ``network``: the egress for downloads; ``mirrors`` replace the
    registries of images; ``prefix``: the cluster's name, part of the name of the Job's service account.
    """

    settings: ModelSettings
    network: NetworkSettings
    mirrors: Mirrors
    prefix: str
    provider: k8s.Provider

    @classmethod
    def of(cls, settings: StackSettings, model: ModelSettings, *, cluster: Cluster) -> Self | None:
        """Those of a model of a stack with ``weightsCache``."""
        if model.weights_cache is None:
            return None
        return cls(
            settings=model,
            network=settings.network,
            mirrors=settings.mirrors,
            prefix=settings.cluster.name,
            provider=cluster.provider,
        )


class ModelWeights(pulumi.ComponentResource):
    """``llmd-gke:models:ModelWeights``: the Job that copies weights from Hugging Face into a bucket, its service
    account and its NetworkPolicy.

    It waits for neither KServe nor TPU hosts, so it runs while they are created; the model waits for it. Stopping a
    model does not remove it: a Job that has ended costs nothing.
    """

    def __init__(self, name: str, args: ModelWeightsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:models:ModelWeights", name, None, opts)
        wait = f"{args.settings.startup_budget}m"
        create(
            name,
            weights_copy.objects(args.settings, network=args.network, mirrors=args.mirrors, cluster=args.prefix),
            pulumi.ResourceOptions(parent=self, provider=args.provider),
            special={
                weights_copy.JOB: pulumi.ResourceOptions(
                    custom_timeouts=pulumi.CustomTimeouts(create=wait, update=wait)
                )
            },
        )
        self.register_outputs({})
