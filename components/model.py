"""A served model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import pulumi
import pulumi_kubernetes as k8s

from components.cluster import Cluster
from components.kubernetes_objects import create
from components.model_updates import failed_rollout, failed_service, replaced_pods
from components.network import Network
from components.refused_changes import before_update
from llmd_gke.catalog.scaling import Source
from llmd_gke.manifests import client_request, routing, scaling
from llmd_gke.manifests.objects import model as manifests
from llmd_gke.settings import (
    FrontDoorSettings,
    GatewaySettings,
    ModelSettings,
    NetworkSettings,
    PoolSettings,
    StackSettings,
    TracesSettings,
)

NODE_MINUTES = 20
"""Added to the model's own startup budget (image, weights): a node takes about ten minutes (``catalog/durations.py``),
with as many in reserve."""


@dataclass(frozen=True, kw_only=True)
class ModelArgs:
    """``settings`` of the model and of the ``pool`` whose hosts it uses. ``gateway`` and ``gateway_ip``: where requests
    enter; ``network``: their source addresses, and the egress for downloads. The name of the pods' service account
    contains ``prefix``, the cluster's name. ``traces``: destination of request traces (default: none). ``door``: the
    front door that requests pass, if there is one. ``project`` and ``source``: where an autoscaled model's load is
    read, and what reads it. ``entrances``: the components that requests come through, which only routes wait for.
    ``autoscalers``: the components that only the autoscaler's objects wait for.
    """

    settings: ModelSettings
    pool: PoolSettings
    gateway: GatewaySettings
    network: NetworkSettings
    prefix: str
    gateway_ip: pulumi.Input[str]
    project: str
    source: Source
    provider: k8s.Provider
    traces: TracesSettings | None = None
    door: FrontDoorSettings | None = None
    entrances: Sequence[pulumi.Resource] = ()
    autoscalers: Sequence[pulumi.Resource] = ()

    @classmethod
    def of(
        cls,
        settings: StackSettings,
        model: ModelSettings,
        *,
        network: Network,
        cluster: Cluster,
        entrances: Sequence[pulumi.Resource],
        autoscalers: Sequence[pulumi.Resource],
    ) -> Self:
        """Those of a model of a stack."""
        return cls(
            settings=model,
            pool=settings.pool(model.pool),
            gateway=settings.gateway,
            network=settings.network,
            project=settings.project,
            prefix=settings.cluster.name,
            gateway_ip=network.gateway_ip,
            provider=cluster.provider,
            source=settings.scaling_source(model),
            traces=settings.monitoring.traces,
            door=settings.front_door,
            entrances=entrances,
            autoscalers=autoscalers,
        )


class Model(pulumi.ComponentResource):
    """``llmd-gke:models:Model``: all resources of one model, in the order that KServe and GKE require.

    Creates the pods' service account, the LLMInferenceServiceConfig of its runtime, two NetworkPolicies (three if it
    spans hosts, and one if it is traced), the HTTPRoute, two HealthCheckPolicies, two GCPBackendPolicies (InferencePool
    and workload Service), and the LLMInferenceService, which waits for ``Ready`` (``wait_for``: for its pods only), and
    a patch that waits for the rollout of changed pods (not if it spans hosts, and not of a stopped model). Its servers
    start while routes are created, and the load balancer that these wait for. An autoscaled model's autoscaler
    is created after the service, and waits for its pods. Behind a front door an AIGatewayRoute takes the place of route
    and GKE policies, with a SecurityPolicy where not every caller may use the model, and InferenceObjectives where
    callers have priorities. A stopped model has no routes and no GKE policies. Neither routes nor GKE policies wait for
    the service, which becomes healthy only with them. Outputs: ``endpoint`` (``url``, ``servedModelName``, which
    clients send, and ``namespace``; ``stopped`` if it has no replicas). ``curl`` is a shell command that sends a
    request to it; ``None`` for a stopped model.
    """

    endpoint: dict[str, pulumi.Input[str | bool]]
    curl: pulumi.Output[str] | None

    def __init__(self, name: str, args: ModelArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:models:Model", name, None, opts)
        model, gateway, door = args.settings, args.gateway, args.door
        objects = manifests.objects(
            model,
            args.pool,
            gateway=gateway,
            network=args.network,
            cluster=args.prefix,
            project=args.project,
            source=args.source,
            traces=args.traces,
            door=door,
        )
        wait = f"{model.startup_budget + NODE_MINUTES}m"
        times = pulumi.CustomTimeouts(create=wait, update=wait, delete="15m")
        service_options = pulumi.ResourceOptions(
            custom_timeouts=times,
            hooks=pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{name}-not-ready", failed_service(model))]),
            # KServe rejects a changed number of pods in a group, and puts labels into the selector of its Deployment,
            # which is immutable (``workload_single_node.go``): a model that moves to another slice, or whose load GKE's
            # adapter begins or ceases to read, is recreated.
            replace_on_changes=["spec.parallelism.pipeline", "spec.labels"],
            delete_before_replace=True,
        )
        special = {
            manifests.SERVICE: service_options,
            **dict.fromkeys(scaling.KEYS, pulumi.ResourceOptions(custom_timeouts=times)),
            manifests.ROLLOUT: pulumi.ResourceOptions(
                custom_timeouts=times,
                hooks=pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{name}-rollout", failed_rollout(model))]),
                # The preview of an update would be a conflict, too. That of a creation asks nobody.
                replace_on_changes=["spec"],
                # The fields are KServe's: there is nothing to give back, and no Deployment of a stopped model.
                retain_on_delete=True,
            ),
        }
        if not model.stopped:
            pool = args.pool.name if args.pool.updates_need_stop else None
            for one in (manifests.SERVICE, args.pool.accelerator.config_suffix):
                hooks = before_update(f"{name}-{one}-pods", replaced_pods(model.name, wait, no_spare_host_in=pool))
                special[one] = pulumi.ResourceOptions.merge(special.get(one), pulumi.ResourceOptions(hooks=hooks))
        create(
            name,
            objects,
            pulumi.ResourceOptions(parent=self, provider=args.provider),
            earlier={manifests.ENTRANCES: args.entrances, manifests.AUTOSCALERS: args.autoscalers},
            special=special,
        )
        host = args.gateway_ip if gateway.domain is None else pulumi.Output.from_input(gateway.domain)
        path, served = routing.address(model)
        url = pulumi.Output.concat(f"{gateway.scheme}://", host, path if door is None else "")
        self.curl = (
            None
            if model.stopped
            else url.apply(
                lambda base_url: client_request.curl(
                    base_url,
                    served,
                    with_key=door is not None,
                    with_identity=door is not None and door.uses_iap,
                )
            )
        )
        self.endpoint = {
            "url": url,
            "servedModelName": pulumi.Output.from_input(served),
            "namespace": pulumi.Output.from_input(model.namespace),
            **({"stopped": True} if model.stopped else {}),
        }
        self.register_outputs(self.endpoint)
