"""A served model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import pulumi
import pulumi_kubernetes as k8s
from pulumi_kubernetes.core import v1 as core

from components.cluster import Cluster
from components.custom_resources import after, custom_resource, network_policy
from components.network import Network
from llmd_gke.catalog.scaling import Source
from llmd_gke.manifests import client_request, egress, firewall, identity, naming, routing, scaling, serving, tracing
from llmd_gke.manifests.front_door import models as behind_door
from llmd_gke.settings import (
    AcceleratorPool,
    FrontDoorSettings,
    GatewaySettings,
    ModelSettings,
    NetworkSettings,
    StackSettings,
    TracesSettings,
)

NODE_MINUTES = 20
"""Minutes for creating a node, about ten; added to the model's own startup budget for image and weights."""


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
    pool: AcceleratorPool
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
    and workload Service), and the LLMInferenceService, which waits for ``Ready`` (``wait_for``: for its pods only). Its
    servers start while routes are created, and the load balancer that these wait for. An autoscaled model's autoscaler
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
        model, pool, gateway, door = args.settings, args.pool, args.gateway, args.door
        egress_settings = args.network.egress
        child = pulumi.ResourceOptions(parent=self, provider=args.provider)
        account = core.ServiceAccount(
            f"{name}-account",
            metadata={"name": identity.account(model.name, args.prefix), "namespace": model.namespace},
            automount_service_account_token=False,
            # KServe gives the endpoint picker's pod the pull secrets of this account (kserve/kserve
            # ``pkg/controller/v1alpha2/llmisvc/scheduler.go``).
            image_pull_secrets=[{"name": naming.PULL_SECRET}] if model.private_image else None,
            opts=child,
        )
        config = serving.runtime_config(
            model, pool, egress_settings, account=identity.account(model.name, args.prefix), door=door
        )
        runtime = custom_resource(f"{name}-{pool.accelerator.config_suffix}", config, child)
        closed = firewall.model_policies(model, args.network, spans_hosts=pool.slice.multi_host, door=door)
        guards: list[pulumi.Resource] = [
            network_policy(f"{name}-{key}", policy, child) for key, policy in closed.items()
        ]
        if (named := egress.fqdn_policy(model, egress_settings)) is not None:
            guards.append(custom_resource(f"{name}-allow-names", named, child))
        if args.traces is not None:
            guards.append(network_policy(f"{name}-allow-traces", tracing.network_policy(model, args.traces), child))
        if not model.stopped:
            # KServe keeps neither pool nor Service of a stopped model, and a route without backends can block the whole
            # Gateway. When a model is stopped these are deleted last.
            if door is None or door.keep_paths:
                own = routing.route(model, gateway, kept=door is not None)
                custom_resource(f"{name}-route", own, after(child, *args.entrances))
                for key, policy in routing.model_policies(model).items():
                    custom_resource(f"{name}-{key}", policy, child)
            if door is not None:
                _behind_door(name, model, door, after(child, *args.entrances))
        wait = f"{model.startup_budget + NODE_MINUTES}m"
        times = pulumi.CustomTimeouts(create=wait, update=wait, delete="15m")
        service = custom_resource(
            f"{name}-service",
            serving.service(model, pool, egress_settings, args.traces, door, source=args.source),
            pulumi.ResourceOptions(
                parent=self,
                provider=args.provider,
                # Nothing works without the configuration. KServe creates the pods without the route, and pool and
                # endpoint picker as soon as it sees one: ``reconcile`` and ``enqueueOnHttpRouteChange`` in
                # ``pkg/controller/v1alpha2/llmisvc/controller.go``.
                depends_on=[account, runtime, *guards],
                custom_timeouts=times,
                hooks=pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{name}-not-ready", not_ready(model))]),
                # KServe rejects a changed number of pods in a group, and puts labels into the selector of its
                # Deployment, which is immutable (``workload_single_node.go``): a model that moves to another slice, or
                # whose load GKE's adapter begins or ceases to read, is recreated.
                replace_on_changes=["spec.parallelism.pipeline", "spec.labels"],
                delete_before_replace=True,
            ),
        )
        scaled: list[pulumi.Resource] = [service, *args.autoscalers]
        for key, manifest in scaling.objects(model, args.source, args.prefix, args.project).items():
            patient = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(custom_timeouts=times))
            scaled.append(custom_resource(f"{name}-{key}", manifest, after(patient, *scaled)))
        host = args.gateway_ip if gateway.domain is None else pulumi.Output.from_input(gateway.domain)
        url = pulumi.Output.concat(f"{gateway.scheme}://", host, model.path if door is None else "")
        self.curl = (
            None
            if model.stopped
            else url.apply(
                lambda base_url: client_request.curl(
                    base_url,
                    model.served_name,
                    with_key=door is not None,
                    with_identity=door is not None and door.uses_iap,
                )
            )
        )
        self.endpoint = {
            "url": url,
            "servedModelName": pulumi.Output.from_input(model.served_name),
            "namespace": pulumi.Output.from_input(model.namespace),
            **({"stopped": True} if model.stopped else {}),
        }
        self.register_outputs(self.endpoint)


def _behind_door(name: str, model: ModelSettings, door: FrontDoorSettings, options: pulumi.ResourceOptions) -> None:
    """Creates the model's route at the front door, the callers that may use it, and their priorities.

    The limits on callers come first: the route must not be open for a moment to those who may not use it. In the
    ``options`` of each is the front door itself: if the stack loses it, the component of the model no longer depends on
    it, and these would be deleted after the controller that removes the route's finalizer.
    """
    first = [
        custom_resource(f"{name}-priority-{caller}", objective, options)
        for caller, objective in behind_door.objectives(model, door).items()
    ]
    first.append(custom_resource(f"{name}-callers", behind_door.access(model, door), options))
    if (unknown := behind_door.unknown(model, door)) is not None:
        first.append(custom_resource(f"{name}-callers-unknown", unknown, options))
    custom_resource(f"{name}-door", behind_door.route(model), after(options, *first))


def hint(model: ModelSettings, errors: Sequence[str]) -> str | None:
    """Advice if a service did not become Ready in time; ``None`` for other failures.

    ``errors`` are those of all attempts so far, the newest first.
    """
    newest = errors[0].lower() if errors else ""
    if model.wait_for != "ready" or not any(sign in newest for sign in ("timed out", "timeout", "deadline exceeded")):
        return None
    return (
        f"{model.name} was not Ready in time. Run: kubectl -n {model.namespace} get llminferenceservice "
        f"{model.name} -o yaml. If WorkloadsReady is True but InferencePoolReady or HTTPRoutesReady is not, the "
        f"pods serve, but KServe cannot read the status that GKE reports for pool or route: set `waitFor: "
        f"workloads` for {model.name}, run `pulumi up` again, and check the endpoint with `llmd-gke smoke`."
    )


def not_ready(model: ModelSettings) -> Callable[[pulumi.ErrorHookArgs], bool]:
    """Called by the engine after the service failed: logs the advice, and never retries."""

    def answer(args: pulumi.ErrorHookArgs) -> bool:
        if (warning := hint(model, args.errors)) is not None:
            pulumi.log.warn(warning)
        return False

    return answer
