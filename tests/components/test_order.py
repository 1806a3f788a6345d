"""What exists before what, and therefore what is destroyed after what."""

from __future__ import annotations

from llmd_gke.graph.resources import Graph, ResourceNode
from tests.components import kinds
from tests.components.kinds import Select, chart, of
from tests.components.variants import variant

CRDS, CONTROLLER, PRESETS = (
    chart("kserve-llmisvc-crd"),
    chart("kserve-llmisvc-resources"),
    chart("kserve-runtime-configs"),
)

EDGES: dict[str, tuple[Select, Select]] = {
    "the proxy-only subnet exists before the Gateway": (kinds.proxy_subnet, of(kinds.GATEWAY)),
    "the reserved address exists before the Gateway": (of(kinds.ADDRESS), of(kinds.GATEWAY)),
    "the GatewayClass is accepted before the Gateway": (of(kinds.GATEWAY_CLASS), of(kinds.GATEWAY)),
    "the GatewayClass is accepted before KServe's controller": (of(kinds.GATEWAY_CLASS), CONTROLLER),
    "GKE's InferencePool CRD is there before KServe's controller": (of(kinds.POOL_API), CONTROLLER),
    "GKE's InferencePool CRD is there before services": (of(kinds.POOL_API), of(kinds.SERVICE)),
    "the GatewayClass is accepted before routes": (of(kinds.GATEWAY_CLASS), of(kinds.ROUTE)),
    "GKE's CRDs exist before health checks": (of(kinds.GATEWAY_CLASS), of(kinds.HEALTH)),
    "GKE's CRDs exist before backend policies": (of(kinds.GATEWAY_CLASS), of(kinds.BACKEND)),
    "cert-manager runs before KServe's controller": (chart("cert-manager"), CONTROLLER),
    "LeaderWorkerSet runs before KServe's controller": (chart("lws"), CONTROLLER),
    "KServe's CRDs exist before its controller": (CRDS, CONTROLLER),
    "KServe's controller runs before its presets": (CONTROLLER, PRESETS),
    "KServe's presets exist before services": (PRESETS, of(kinds.SERVICE)),
    "KServe's controller runs before services": (CONTROLLER, of(kinds.SERVICE)),
    "KServe's controller runs before the TPU config": (CONTROLLER, of(kinds.CONFIG)),
    "the TPU config exists before the service": (of(kinds.CONFIG), of(kinds.SERVICE)),
    "the NetworkPolicies exist before the service": (kinds.without_scraping(kinds.NETWORK_POLICY), of(kinds.SERVICE)),
    "the Gateway exists before the HTTPRoute": (of(kinds.GATEWAY), of(kinds.ROUTE)),
    "the models' namespace exists before the service": (kinds.model_namespace, of(kinds.SERVICE)),
    "the Gateway's namespace exists before the Gateway": (kinds.gateway_namespace, of(kinds.GATEWAY)),
    "the TPU pool exists before the service": (kinds.tpu_pool, of(kinds.SERVICE)),
    "the system pool exists before everything in Kubernetes": (kinds.system_pool, kinds.everything_in_kubernetes),
    "the cluster exists before everything in Kubernetes": (of(kinds.CLUSTER), kinds.everything_in_kubernetes),
    "APIs are on before the network": (of(kinds.API), of(kinds.VPC)),
    "APIs are on before the cluster": (of(kinds.API), of(kinds.CLUSTER)),
    "the network exists before the cluster": (of(kinds.VPC), of(kinds.CLUSTER)),
    "NAT works before private nodes start": (of("gcp:compute/routerNat:RouterNat"), of(kinds.CLUSTER)),
    "nodes' roles hold before any pool starts": (of(kinds.ROLE), of(kinds.NODE_POOL)),
    "nodes' roles hold before the cluster's first nodes": (of(kinds.ROLE), of(kinds.CLUSTER)),
}


def test_order(graph: Graph) -> None:
    wrong: dict[str, list[tuple[str, str]]] = {}
    for name, (first, second) in EDGES.items():
        earlier, later = first(graph), second(graph)
        assert earlier, f"nothing to come first: {name}"
        assert later, f"nothing to come later: {name}"
        late = [(a.name, b.name) for b in later for before in [graph.before(b)] for a in earlier if a.urn not in before]
        wrong |= {name: late} if late else {}
    assert wrong == {}


def test_tpu_pools_wait_for_the_cluster_but_not_for_its_system_pool(graph: Graph) -> None:
    """GKE creates several node pools at once.

    Source: https://docs.cloud.google.com/kubernetes-engine/docs/how-to/node-pools ("You can manually create, update, or
    delete a node pool while another node pool is already being created, updated, or deleted").
    """
    (pool,), (system,), (cluster,) = kinds.tpu_pool(graph), kinds.system_pool(graph), of(kinds.CLUSTER)(graph)
    assert graph.comes_before(cluster, pool)
    assert not graph.comes_before(system, pool)


def test_kserves_crds_do_not_wait_for_cert_manager(graph: Graph) -> None:
    """cert-manager follows their annotation whenever it starts, and the chart takes a minute."""
    (crds,), (cert_manager,) = CRDS(graph), chart("cert-manager")(graph)
    assert not graph.comes_before(cert_manager, crds)


def test_servers_start_before_the_load_balancer_is_there(graph: Graph) -> None:
    """KServe creates the pods first, and continues once the route appears: ``reconcile`` and ``SetupWithManager`` in
    kserve ``pkg/controller/v1alpha2/llmisvc/controller.go``.
    """
    (route,), (gateway,), (service,) = (of(kind)(graph) for kind in (kinds.ROUTE, kinds.GATEWAY, kinds.SERVICE))
    assert not graph.comes_before(route, service)
    assert not graph.comes_before(gateway, service)


def test_only_its_rollout_waits_for_a_service(graph: Graph) -> None:
    """A service becomes healthy only with its policies: if they waited for it, they would wait forever."""
    (service,) = of(kinds.SERVICE)(graph)
    waiting = {node.type for node in graph.nodes.values() if graph.comes_before(service, node)}
    assert waiting <= {"kubernetes:apps/v1:DeploymentPatch"}


def test_the_gateway_does_not_wait_for_tpus_or_models(graph: Graph) -> None:
    (gateway,) = of(kinds.GATEWAY)(graph)
    assert not any(graph.comes_before(pool, gateway) for pool in kinds.tpu_pool(graph))
    assert not any(graph.comes_before(release, gateway) for release in of(kinds.RELEASE)(graph))


def test_a_model_waits_for_its_own_pool_only_and_for_no_other_model() -> None:
    graph = variant("storage")
    services = {node.name: node for node in of(kinds.SERVICE)(graph)}
    pools = {str(node.inputs["name"]): node for node in kinds.tpu_pool(graph)}
    for service, own, other in (("claimed-service", "v6e1", "v6e4"), ("gated-service", "v6e4", "v6e1")):
        assert graph.comes_before(pools[own], services[service])
        assert not graph.comes_before(pools[other], services[service])
    assert not [(a, b) for a in services for b in services if graph.comes_before(services[a], services[b])]


def test_controllers_outlive_the_last_service_and_go_with_the_cluster(graph: Graph) -> None:
    (cluster,) = of(kinds.CLUSTER)(graph)
    releases: list[ResourceNode] = of(kinds.RELEASE)(graph)
    assert releases
    assert {release.deleted_with for release in releases} == {cluster.urn}
