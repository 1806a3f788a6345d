"""The front door in the graph: what a stack with one has, and that others have nothing of it."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from llmd_gke.catalog import front_door
from llmd_gke.graph.recording import Graph
from llmd_gke.manifests.front_door import firewall, listing
from llmd_gke.settings import load_stack
from tests.components import kinds
from tests.components.conftest import DOOR, ROOT, Record, of_stack
from tests.components.front_door.support import COMPONENT, OBJECTIVE, ROUTE, SECURITY, TRAFFIC, the
from tests.components.kinds import metadata, of, spec


@pytest.mark.parametrize(("stack", "otherwise"), [("eu4a", "ScheduleAnyway"), ("prod", "DoNotSchedule")])
def test_both_proxies_are_on_two_nodes_where_there_are_two(stack: str, otherwise: str) -> None:
    graph = of_stack(stack, preview=False, shipped=True)
    proxy = graph.find(f"kubernetes:{front_door.GATEWAY_VERSION}:EnvoyProxy", "front-door-proxies")
    assert f"'whenUnsatisfiable': '{otherwise}'" in str(spec(proxy))


def test_a_stack_without_a_door_has_nothing_of_it(record: Record) -> None:
    graph = record()
    assert not [node.name for node in graph.nodes.values() if node.type == COMPONENT or "envoyproxy" in node.type]
    assert "baseUrl" not in graph.outputs
    assert front_door.PROXIES_NAMESPACE not in str([node.inputs for node in graph.nodes.values()])


def test_the_load_balancer_has_one_route_and_admits_no_other_namespace(graph: Graph) -> None:
    (route,) = [one for one in of(kinds.ROUTE)(graph) if metadata(one, "namespace") == front_door.PROXIES_NAMESPACE]
    (rule,) = cast("list[dict[str, object]]", spec(route)["rules"])
    assert rule["matches"] == [{"path": {"type": "PathPrefix", "value": "/v1"}}]
    assert rule["backendRefs"] == [{"kind": "Service", "name": front_door.NAME, "port": 80.0}]
    (listener,) = cast("list[dict[str, object]]", spec(the(graph, kinds.GATEWAY, "inference-gateway"))["listeners"])
    assert str(listener["allowedRoutes"]).count(front_door.PROXIES_NAMESPACE) == 1
    assert "'models'" not in str(listener["allowedRoutes"])


def test_the_route_comes_after_the_envoys_and_everything_that_guards_them(graph: Graph) -> None:
    route = the(graph, kinds.ROUTE, front_door.NAME)
    guards = [
        the(graph, SECURITY, "callers"),
        the(graph, TRAFFIC, "limits"),
        graph.find(kinds.SECRET, "front-door-keys"),
    ]
    for earlier in [
        *guards,
        the(graph, kinds.GATEWAY, front_door.NAME),
        the(graph, kinds.GATEWAY, "inference-gateway"),
    ]:
        assert graph.comes_before(earlier, route), earlier.name


def test_the_controllers_come_after_cert_manager_and_their_crds(graph: Graph) -> None:
    crds = [kinds.chart(front_door.CRDS_CHART), kinds.chart(front_door.AI_CRDS_CHART), kinds.chart("cert-manager")]
    for controller in (front_door.GATEWAY_CHART, front_door.AI_GATEWAY_CHART):
        (later,) = kinds.chart(controller)(graph)
        for earlier in crds:
            assert graph.comes_before(earlier(graph)[0], later)


def test_the_door_is_installed_beside_kserve(graph: Graph) -> None:
    """One after the other costs four minutes of a first deployment."""
    kserve = kinds.chart("kserve-llmisvc-crd")(graph) + kinds.chart("kserve-llmisvc-resources")(graph)
    door = [node for node in graph.nodes.values() if node.parent.endswith("FrontDoor::front-door")]
    assert len(kserve) == 2
    assert len(door) > 10
    assert not [(a.name, b.name) for a in kserve for b in door if graph.comes_before(a, b)]


def test_controllers_go_with_the_cluster_and_what_they_finalise_goes_before(graph: Graph) -> None:
    (cluster,) = of(kinds.CLUSTER)(graph)
    charts = [front_door.CRDS_CHART, front_door.AI_CRDS_CHART, front_door.GATEWAY_CHART, front_door.AI_GATEWAY_CHART]
    assert {kinds.chart(name)(graph)[0].deleted_with for name in charts} == {cluster.urn}
    for type_ in (ROUTE, SECURITY, kinds.GATEWAY, kinds.ROUTE):
        assert {node.deleted_with for node in of(type_)(graph)} == {""}


def test_what_models_have_at_the_door_depends_on_the_door_itself(graph: Graph) -> None:
    """Without ``frontDoor`` the model's component no longer does: finalizers would outlive the controller."""
    (controller,) = kinds.chart(front_door.AI_GATEWAY_CHART)(graph)
    owned = [*of(ROUTE)(graph), *of(OBJECTIVE)(graph), *of(SECURITY)(graph)]
    of_models = [node for node in owned if metadata(node, "namespace") in ("models", "others")]
    assert len(of_models) == 2 + 3 + 2 + 1, "routes, objectives, callers, and unknown models where not all may call"
    assert [node.name for node in of_models if controller.urn not in node.depends_on] == []


def test_google_keeps_the_crds_of_the_gateway_api(graph: Graph) -> None:
    (release,) = kinds.chart(front_door.GATEWAY_CHART)(graph)
    assert cast("dict[str, object]", release.inputs["values"])["crds"] == {"enabled": False}


def test_every_model_is_served_by_name_before_kserve_looks_for_its_route(graph: Graph) -> None:
    for name, namespace in (("qwen", "models"), ("small", "others")):
        route, service = the(graph, ROUTE, f"{name}-door"), the(graph, kinds.SERVICE, name)
        assert metadata(route, "namespace") == namespace
        (rule,) = cast("list[dict[str, list[dict[str, Any]]]]", spec(route)["rules"])
        (match,) = rule["matches"]
        assert match["headers"] == [
            {
                "type": "RegularExpression",
                "name": front_door.MODEL_HEADER,
                "value": f"{name}|publishers/{namespace}/models/{name}",
            }
        ], "one match: the picker is asked once for each"
        for later in (route, the(graph, kinds.GATEWAY, front_door.NAME)):
            assert not graph.comes_before(later, service), "servers start while the front door is installed"
        router = cast("dict[str, object]", spec(service)["router"])
        assert router["gateway"] == {"refs": [{"name": "front-door", "namespace": "front-door"}]}
        assert router["route"] == {"http": {"refs": [{"name": f"{name}-door"}]}}


def test_a_picker_takes_bodies_of_32_mib_and_is_ready_soon_because_the_door_needs_it(graph: Graph) -> None:
    routers = [cast("dict[str, Any]", spec(service)["router"]) for service in of(kinds.SERVICE)(graph)]
    assert all("'--grpc-max-recv-msg-size=33554432'" in str(router) for router in routers)
    probes = [router["scheduler"]["template"]["containers"][0]["readinessProbe"] for router in routers]
    assert probes == [{"initialDelaySeconds": 1, "periodSeconds": 2}] * 2


def test_every_error_of_the_door_is_json_and_a_models_own_400_and_500_are_passed_on(graph: Graph) -> None:
    overrides = cast("list[dict[str, dict[str, object]]]", spec(the(graph, TRAFFIC, "limits"))["responseOverride"])
    sources: dict[int, object] = {}
    for one in overrides:
        (match,), response = cast("list[object]", one["match"]["statusCodes"]), one["response"]
        assert response["contentType"] == "application/json"
        body = json.loads(cast("dict[str, str]", response["body"])["inline"])
        assert set(body["error"]) == {"message", "type", "param", "code"}
        sources[int(cast("dict[str, float]", match)["value"])] = one.get("source")
    assert {status for status, source in sources.items() if source == "Local"} == {500}
    assert {401, 403, 404, 413, 429, 502, 503, 504} == {status for status, source in sources.items() if source is None}


def test_without_network_policies_the_controllers_reach_any_control_plane_and_the_proxies_stay_closed(
    bare: Graph,
) -> None:
    spaces = (front_door.PROXIES_NAMESPACE, front_door.AI_NAMESPACE)
    guards = [node for node in of(kinds.NETWORK_POLICY)(bare) if metadata(node, "namespace") in spaces]
    assert {node.name.removeprefix("front-door-") for node in guards} == {
        "proxies-default-deny", "allow-clients", "allow-gateway",
    }  # fmt: skip


def test_network_policies_arrive_as_written(graph: Graph) -> None:
    settings = load_stack(ROOT, DOOR).settings
    assert settings.front_door is not None
    written = firewall.policies(
        settings.front_door,
        settings.network,
        settings.gateway,
        settings.namespaces,
        private_nodes=settings.cluster.private_nodes,
    )
    arrived = [spec(node) for node in of(kinds.NETWORK_POLICY)(graph)]
    assert [key for key, policy in written.items() if policy["spec"] not in arrived] == []


def test_old_paths_stay_where_they_are_kept(bare: Graph) -> None:
    assert {str(metadata(node, "name")) for node in of(kinds.ROUTE)(bare)} == {
        "qwen-route",
        "front-door",
        listing.NAME,
    }
    kept = bare.find(kinds.ROUTE, "qwen-route")
    assert "kept-beside-front-door" in str(kept.inputs["metadata"])
    assert bare.comes_before(bare.find(kinds.SERVICE), kept), "two gateways would write a new pool's status at once"
    assert len(of(kinds.HEALTH)(bare)) == 3
    assert "ipBlock" in str(spec(the(bare, kinds.NETWORK_POLICY, "qwen-workload"))["ingress"])


def test_the_outputs_are_what_clients_of_openai_need() -> None:
    graph = of_stack(DOOR, preview=False, shipped=True)
    base = str(graph.outputs["baseUrl"])
    assert base.endswith("/v1")
    command = str(graph.outputs["curl"]).splitlines()[0]
    assert command.startswith(f"curl {base}/chat/completions ")
    assert command.endswith('-H "authorization: Bearer $LLM_API_KEY"')
    models = cast("dict[str, dict[str, str]]", graph.outputs["models"])
    assert {f"{model['url']}/v1" for model in models.values()} == {base}
    assert json.dumps(graph.outputs).count("rehearsal-dummy") == 0


def test_each_caller_gets_the_list_of_the_models_it_may_use(graph: Graph) -> None:
    settings = load_stack(ROOT, DOOR).settings
    assert settings.front_door is not None
    lists = {
        caller: [one["id"] for one in json.loads(listing.answer(caller, settings.front_door, settings.models))["data"]]
        for caller in ("team-a", "batch", "nobody")
    }
    names = {model.name: [*model.names] for model in settings.models}
    assert lists == {"team-a": names["qwen"] + names["small"], "batch": names["qwen"], "nobody": []}
    script = str(spec(the(graph, f"kubernetes:{front_door.GATEWAY_VERSION}:EnvoyExtensionPolicy", "callers"))["lua"])
    assert '["team-a"]' in script
    assert '["nobody"]' not in script


def test_the_list_of_models_has_a_route_without_a_backend_that_refuses_what_the_script_leaves(graph: Graph) -> None:
    route = the(graph, kinds.ROUTE, listing.NAME)
    (rule,) = cast("list[dict[str, Any]]", spec(route)["rules"])
    assert rule["matches"] == [{"path": {"type": "Exact", "value": "/v1/models"}}]
    assert "backendRefs" not in rule
    refusal = the(graph, f"kubernetes:{front_door.GATEWAY_VERSION}:HTTPRouteFilter", listing.NAME)
    assert spec(refusal)["directResponse"] == {"statusCode": 403.0}
    assert metadata(route, "namespace") == metadata(refusal, "namespace") == front_door.NAMESPACE
    (listener,) = cast("list[dict[str, Any]]", spec(the(graph, kinds.GATEWAY, front_door.NAME))["listeners"])
    assert f"'{front_door.NAMESPACE}'" in str(listener["allowedRoutes"])


def test_a_route_is_deleted_before_what_it_owns(graph: Graph) -> None:
    """Otherwise the garbage collector edits it while AI Gateway does, which gives up: envoyproxy/ai-gateway#2565."""
    routes = of(ROUTE)(graph)
    assert routes
    for one in routes:
        assert metadata(one, "annotations") == {"pulumi.com/deletionPropagationPolicy": "background"}
