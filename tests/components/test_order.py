"""What exists before what, and therefore what is destroyed after what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llmd_gke.graph.resources import Graph, ResourceNode
from llmd_gke.manifests import charts
from tests.components import kinds
from tests.components.kinds import Select, chart, of

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


@pytest.mark.parametrize("name", EDGES)
def test_order(graph: Graph, name: str) -> None:
    earlier, later = (select(graph) for select in EDGES[name])
    assert earlier, "nothing to come first"
    assert later, "nothing to come later"
    late = [(a.name, b.name) for b in later for before in [graph.before(b)] for a in earlier if a.urn not in before]
    assert not late, f"not true that {name}: {late}"


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


@pytest.mark.parametrize("kind", [kinds.ROUTE, kinds.GATEWAY])
def test_servers_start_before_the_load_balancer_is_there(graph: Graph, kind: str) -> None:
    """KServe creates the pods first, and continues once the route appears: ``reconcile`` and ``SetupWithManager`` in
    kserve ``pkg/controller/v1alpha2/llmisvc/controller.go``.
    """
    (earlier,), (service,) = of(kind)(graph), of(kinds.SERVICE)(graph)
    assert not graph.comes_before(earlier, service)


def test_removing_only_the_configuration_from_what_a_service_depends_on_is_noticed(graph: Graph) -> None:
    (config,), (service,) = of(kinds.CONFIG)(graph), of(kinds.SERVICE)(graph)
    without = replace(service, depends_on=service.depends_on - {config.urn})
    assert graph.comes_before(config, service)
    assert not Graph({**graph.nodes, service.urn: without}).comes_before(config, without)


def test_nothing_comes_before_itself(graph: Graph) -> None:
    circles = [node.urn for node in graph.nodes.values() if graph.comes_before(node, node)]
    assert circles == []


@pytest.mark.parametrize("kind", [kinds.HEALTH, kinds.BACKEND])
def test_gke_policies_do_not_wait_for_the_service_that_needs_them(graph: Graph, kind: str) -> None:
    policies, services = of(kind)(graph), of(kinds.SERVICE)(graph)
    assert policies
    assert services
    waiting = [(p.name, s.name) for p in policies for s in services if graph.comes_before(s, p)]
    assert not waiting, "a service becomes healthy only with its policies: waiting for it is waiting forever"


def test_only_its_rollout_waits_for_a_service(graph: Graph) -> None:
    (service,) = of(kinds.SERVICE)(graph)
    waiting = {node.type for node in graph.nodes.values() if graph.comes_before(service, node)}
    assert waiting <= {"kubernetes:apps/v1:DeploymentPatch"}


def test_the_gateway_does_not_wait_for_tpus_or_models(graph: Graph) -> None:
    (gateway,) = of(kinds.GATEWAY)(graph)
    assert not any(graph.comes_before(pool, gateway) for pool in kinds.tpu_pool(graph))
    assert not any(graph.comes_before(release, gateway) for release in of(kinds.RELEASE)(graph))


def test_a_model_waits_for_its_own_pool_only(record: object) -> None:
    graph = two_models(record)
    services = {node.name: node for node in of(kinds.SERVICE)(graph)}
    pools = {str(node.inputs["name"]): node for node in kinds.tpu_pool(graph)}
    assert graph.comes_before(pools["v6e1"], services["small-service"])
    assert not graph.comes_before(pools["v6e4"], services["small-service"])
    assert graph.comes_before(pools["v6e4"], services["qwen-service"])
    assert not graph.comes_before(pools["v6e1"], services["qwen-service"])


def test_models_do_not_wait_for_each_other(record: object) -> None:
    graph = two_models(record)
    one, other = of(kinds.SERVICE)(graph)
    assert not graph.comes_before(one, other)
    assert not graph.comes_before(other, one)


def two_models(record: object) -> Graph:
    assert callable(record)
    pools: list[dict[str, object]] = [
        {"name": "v6e4", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 4},
        {"name": "v6e1", "machineType": "ct6e-standard-1t", "topology": "1x1", "maxNodes": 2},
    ]
    models: list[dict[str, object]] = [
        {"name": "qwen", "uri": "hf://Qwen/Qwen2.5-3B-Instruct", "pool": "v6e4", "replicas": 3},
        {"name": "small", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e1", "namespace": "others"},
    ]
    graph = record({"llmd-gke:pools": pools, "llmd-gke:models": models})
    assert isinstance(graph, Graph)
    return graph


def test_controllers_outlive_the_last_service_and_go_with_the_cluster(graph: Graph) -> None:
    (cluster,) = of(kinds.CLUSTER)(graph)
    releases: list[ResourceNode] = of(kinds.RELEASE)(graph)
    assert releases
    assert {release.deleted_with for release in releases} == {cluster.urn}


def test_the_platforms_namespaces_are_those_that_its_releases_go_to(graph: Graph) -> None:
    assert {release.inputs["namespace"] for release in of(kinds.RELEASE)(graph)} == charts.namespaces()
