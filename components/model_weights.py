"""A copy of a model's weights in a bucket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, cast

import pulumi
import pulumi_kubernetes as k8s
from pulumi_kubernetes.batch import v1 as batch
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta import v1 as meta

from components.cluster import Cluster
from components.custom_resources import custom_resource, network_policy
from llmd_gke.catalog.registries import Mirrors
from llmd_gke.manifests import egress, identity, weights_copy
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
        model = args.settings
        child = pulumi.ResourceOptions(parent=self, provider=args.provider)
        account = identity.copy_account(model, args.prefix)
        needed: list[pulumi.Resource] = [
            core.ServiceAccount(
                f"{name}-account",
                metadata={"name": account, "namespace": model.namespace},
                automount_service_account_token=False,
                opts=child,
            ),
            network_policy(f"{name}-allow", weights_copy.network_policy(model, args.network), child),
        ]
        if (named := egress.copy_policy(model, args.network.egress)) is not None:
            needed.append(custom_resource(f"{name}-allow-names", named, child))
        job = weights_copy.job(model, account=account, mirrors=args.mirrors)
        wait = f"{model.startup_budget}m"
        batch.Job(
            f"{name}-job",
            metadata=cast("meta.ObjectMetaArgsDict", job["metadata"]),
            spec=cast("batch.JobSpecArgsDict", job["spec"]),
            opts=pulumi.ResourceOptions.merge(
                child,
                pulumi.ResourceOptions(
                    depends_on=needed, custom_timeouts=pulumi.CustomTimeouts(create=wait, update=wait)
                ),
            ),
        )
        self.register_outputs({})
