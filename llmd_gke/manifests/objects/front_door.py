"""All objects of the front door, in the order in which they are created."""

from __future__ import annotations

from collections.abc import Sequence

from llmd_gke.catalog import front_door
from llmd_gke.catalog.registries import Mirrors
from llmd_gke.json_types import JsonObject
from llmd_gke.manifests import pod_security
from llmd_gke.manifests.front_door import (
    edge,
    firewall,
    gateway,
    listing,
    metrics,
    redis,
    releases,
    stopped,
    streamed_usage,
)
from llmd_gke.manifests.named import Named, named, names, secret
from llmd_gke.settings import FrontDoorSettings, GatewaySettings, ModelSettings, NetworkSettings
from llmd_gke.settings.sections.front_door import IN_CLUSTER

CERT_MANAGER, EDGE = "cert-manager", "edge"
"""What the component brings: the release that signs for AI Gateway's webhook, and the load balancer's Gateway."""
GATEWAY = "gateway"
CONTROLLERS = (front_door.AI_GATEWAY_CHART, front_door.GATEWAY_CHART)

NAMESPACE = Named("namespace", pod_security.namespace(front_door.NAMESPACE, "restricted"))
"""The door's own, which nothing keeps."""


def kept(
    door: FrontDoorSettings,
    *,
    network: NetworkSettings,
    load_balancer: GatewaySettings,
    models: Sequence[ModelSettings],
    private_nodes: bool,
    network_policies: bool,
    chart_folder: str | None,
    mirrors: Mirrors,
) -> list[Named]:
    """Both controllers with their CRDs, Redis, and their namespaces, which are closed but for what they need.

    They are deleted with the cluster, after everything that the controllers have to finalise.
    """
    spaces = [
        Named("proxies-namespace", pod_security.namespace(front_door.PROXIES_NAMESPACE, "baseline")),
        Named("ai-namespace", pod_security.namespace(front_door.AI_NAMESPACE, "baseline")),
    ]
    named_models = [model.namespace for model in models]
    # Policies are switched off where the control plane is outside of the private ranges.
    closed = firewall.policies(
        door, network, load_balancer, named_models, private_nodes=private_nodes and network_policies
    )
    closed = {key: policy for key, policy in closed.items() if network_policies or key in firewall.ALWAYS}
    guards = named(closed, *names([NAMESPACE], spaces))
    ready = names([NAMESPACE], spaces, guards)
    crds = [releases.crds(), releases.ai_crds(chart_folder, mirrors)]
    # The controllers look for CRDs when they start.
    first = [Named(spec.name.removeprefix("front-door-"), spec, ready) for spec in crds]
    in_cluster = door.redis == IN_CLUSTER
    if door.has_limits and in_cluster:
        first.append(Named("redis-service", redis.service(), ready))
        first.append(Named("redis", redis.deployment(mirrors), ready))
    controllers = [
        releases.ai_gateway(chart_folder, mirrors),
        releases.gateway(door, chart_folder, mirrors, redis=redis.ADDRESS if in_cluster else door.redis),
    ]
    waits = (*ready, *names(first), CERT_MANAGER)
    return [*spaces, *guards, *first, *(Named(spec.name, spec, waits) for spec in controllers)]


def serving(
    door: FrontDoorSettings,
    *,
    load_balancer: GatewaySettings,
    models: Sequence[ModelSettings],
    mirrors: Mirrors,
    scrape_seconds: int | None,
    security_policy: str | None,
    caller_keys: JsonObject | None,
    iap_secret: str | None,
    system_nodes: int = 1,
) -> list[Named]:
    """The Gateway with its Envoys and policies, what ``/v1/models`` answers, and the route at the load balancer.

    No request may come before the policies of the Service there, if the settings limit access.
    """
    namespaces = tuple(dict.fromkeys(model.namespace for model in models))
    clients = named(
        {
            "clients": gateway.clients(door),
            "script": gateway.extension(door, models),
            "limits": gateway.traffic(door, models),
            **({"stream-usage": streamed_usage.filtered()} if door.counts_tokens else {}),
        },
        *CONTROLLERS,
    )
    keys: list[Named] = []
    if caller_keys is not None:
        # Envoy Gateway follows the Secret: a new key is valid at once, and nothing restarts. The cluster's provider
        # updates it (``ClusterArgs.mutable_secrets``): without the Secret, Envoy Gateway 1.8.3 answers 500 on every
        # route (``internal/gatewayapi/securitypolicy.go`` ``buildAPIKeyAuth``).
        keys = named({"keys": secret(front_door.KEYS_SECRET, front_door.NAMESPACE, caller_keys)}, *CONTROLLERS)
    callers = Named("callers", gateway.callers(door), (*CONTROLLERS, *names(keys)))
    answers, rules = {"models-refusal": listing.refusal()}, list[JsonObject]()
    if stopped.everything(models):
        answers["models-stopped"] = stopped.answer()
        rules.append(stopped.rule(edge.PREFIX))
    client: list[Named] = []
    if iap_secret is not None:
        data: JsonObject = {front_door.IAP_SECRET_ENTRY: iap_secret}
        client = named({"iap-client": secret(front_door.IAP_SECRET, front_door.PROXIES_NAMESPACE, data)}, *CONTROLLERS)
    iap = None if door.access is None else door.access.iap
    access = named(edge.policies(models, load_balancer, iap, security_policy), *CONTROLLERS, *names(client))
    result = [
        Named("proxies", gateway.envoy_proxy(door, mirrors, system_nodes=system_nodes), CONTROLLERS),
        Named("class", gateway.gateway_class(), (*CONTROLLERS, "proxies")),
        *clients,
        *keys,
        callers,
        Named(GATEWAY, gateway.gateway(namespaces), (*CONTROLLERS, "class", *names(clients, [callers]))),
        *named(answers, *CONTROLLERS),
        Named("models", listing.route(*rules), (*CONTROLLERS, *answers, GATEWAY)),
        *client,
        *access,
        Named(
            "route",
            edge.route(load_balancer, models),
            (*CONTROLLERS, EDGE, GATEWAY, *(() if door.access is None else names(access))),
        ),
    ]
    if scrape_seconds is not None:
        usage = {"allow-collectors": metrics.network_policy(), "usage": metrics.proxies(scrape_seconds)}
        result += named(usage, *CONTROLLERS)
    return result
