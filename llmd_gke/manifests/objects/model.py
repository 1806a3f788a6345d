"""All objects of a model, in the order that KServe and GKE require."""

from __future__ import annotations

from llmd_gke.catalog.scaling import Source
from llmd_gke.json_types import Json
from llmd_gke.manifests import egress, firewall, identity, naming, routing, scaling, serving, tracing
from llmd_gke.manifests.charts import Release
from llmd_gke.manifests.front_door import models as behind_door
from llmd_gke.manifests.named import Named, account, named, names
from llmd_gke.settings import (
    FrontDoorSettings,
    GatewaySettings,
    ModelSettings,
    NetworkSettings,
    PoolSettings,
    StackSettings,
    TracesSettings,
)

ENTRANCES, AUTOSCALERS = "entrances", "autoscalers"
"""What a model's component brings: what routes wait for, and what the autoscaler's objects wait for."""
SERVICE, ROLLOUT = "service", "rollout"


def objects(
    model: ModelSettings,
    pool: PoolSettings,
    *,
    gateway: GatewaySettings,
    network: NetworkSettings,
    cluster: str,
    project: str,
    source: Source,
    traces: TracesSettings | None,
    door: FrontDoorSettings | None,
) -> list[Named]:
    """The pods' account and runtime, NetworkPolicies, routes, GKE's policies, the service, its rollout and autoscaler.

    KServe creates the pods without the route, and pool and endpoint picker as soon as it sees one (``reconcile`` and
    ``enqueueOnHttpRouteChange`` in ``pkg/controller/v1alpha2/llmisvc/controller.go``): so the service waits for neither
    route nor policies, and becomes healthy only with them.
    """
    # KServe gives the endpoint picker's pod the pull secrets of this account (kserve/kserve
    # ``pkg/controller/v1alpha2/llmisvc/scheduler.go``).
    pull_secret = naming.PULL_SECRET if model.private_image else None
    name, outside = identity.account(model.name, cluster), network.egress
    closed = firewall.model_policies(model, network, gateway, spans_hosts=pool.slice.multi_host, door=door)
    config = serving.runtime_config(model, pool, outside, account=name)
    first = [
        Named("account", account(name, model.namespace, pull_secret=pull_secret)),
        Named(pool.accelerator.config_suffix, config),
        *named(closed),
    ]
    if (allowed := egress.fqdn_policy(model, outside)) is not None:
        first.append(Named("allow-names", allowed))
    if traces is not None:
        first.append(Named("allow-traces", tracing.network_policy(model, traces)))
    service = serving.service(model, pool, outside, traces, door, source=source, entrance=gateway)
    # KServe keeps neither pool nor Service of a stopped model, and a route without backends can block the whole
    # Gateway. When a model is stopped these are deleted last.
    routes: list[Named] = []
    kept: list[Named] = []
    if door is None and not model.stopped:
        routes = _own_routes(model, pool, gateway, ENTRANCES, kept=False)
    elif door is not None and not model.stopped:
        routes = behind_door.objects(model, door, ENTRANCES)
        # AI Gateway writes a new pool's status once and gives up after a conflict: no other gateway may write then.
        kept = _own_routes(model, pool, gateway, ENTRANCES, SERVICE, kept=True) if door.keep_paths else []
    result = [*first, *routes, Named(SERVICE, service, names(first)), *kept]
    if not (model.stopped or model.autoscaled or pool.slice.multi_host):
        result.append(Named(ROLLOUT, serving.rollout(config, service), (SERVICE,)))
    waits = (SERVICE, AUTOSCALERS)
    for key, manifest in scaling.objects(model, source, cluster, project).items():
        result.append(Named(key, manifest, waits))
        waits = (*waits, key)
    return result


def pods(settings: StackSettings, model: ModelSettings) -> Json:
    """What a model's pods are made of, as digests: a change that leaves them equal replaces no pod."""
    pool = settings.pool(model.pool)
    made = objects(
        model,
        pool,
        gateway=settings.gateway,
        network=settings.network,
        cluster=settings.cluster.name,
        project=settings.project,
        source=settings.scaling_source(model),
        traces=settings.monitoring.traces,
        door=settings.front_door,
    )
    manifests = {one.name: one.manifest for one in made if not isinstance(one.manifest, Release)}
    return serving.rollout(manifests[pool.accelerator.config_suffix], manifests[SERVICE])["spec"]


def _own_routes(
    model: ModelSettings, pool: PoolSettings, gateway: GatewaySettings, *after: str, kept: bool
) -> list[Named]:
    result = [Named("route", routing.route(model, gateway, kept=kept), after)]
    if (shared := routing.shared_route(model, gateway, kept=kept)) is not None:
        result.append(Named("route", shared, after, of=model.model_name))
    # Istio's kinds come with its chart, which the Gateway waits for.
    policies = routing.model_policies(model, gateway, pool.accelerator.memory_port)
    return [*result, *named(policies, *([] if gateway.is_googles else [ENTRANCES]))]
