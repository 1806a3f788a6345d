"""A stack in a cluster that exists makes only what is missing, and nothing that a destroy would take along."""

from __future__ import annotations

import re

from llmd_gke.catalog.metrics import Google
from llmd_gke.manifests.alerts import alerts
from llmd_gke.manifests.dashboard.panels import panels
from llmd_gke.settings import parse
from tests.components import kinds as known
from tests.components.conftest import Record

CHANGES: dict[str, object] = {
    "llmd-gke:cluster": {
        "name": "team",
        "zone": "europe-west4-a",
        "existing": {
            "name": "shared",
            "controllers": {"kserve": "opendatahub/kserve", "keda": "keda/keda-operator"},
            "namespaces": ["models"],
        },
    },
    "llmd-gke:network": {"existing": {"network": "corp", "subnet": "gke"}, "proxies": "10.129.0.0/23"},
    "llmd-gke:gateway": {"existing": {"name": "entry", "namespace": "edge", "listener": "web", "address": "10.0.0.7"}},
}


def test_only_what_is_missing_is_made_and_a_destroy_uninstalls_it(record: Record) -> None:
    graph = record(CHANGES, stack="local")
    kinds = {node.type for node in graph.nodes.values()}
    absent = (
        "container/cluster:Cluster",
        "compute/network:Network",
        "compute/address:Address",
        "v1:Gateway",
        "v1:Namespace",
    )
    assert not [kind for kind in kinds if kind.endswith(absent)]
    releases = [node.name for node in graph.all("kubernetes:helm.sh/v3:Release")]
    assert {node.inputs["cluster"] for node in graph.all(known.NODE_POOL)} == {"shared"}
    assert sorted(releases) == ["platform-cert-manager", "platform-lws"]
    assert not [node.name for node in graph.nodes.values() if node.deleted_with]
    route = graph.find("kubernetes:gateway.networking.k8s.io/v1:HTTPRoute").inputs
    assert "'sectionName': 'web'" in str(route)
    assert graph.outputs["gatewayIp"] == "10.0.0.7"


def test_a_front_door_is_behind_the_gateway_that_is_there(record: Record) -> None:
    graph = record({**CHANGES, "llmd-gke:frontDoor": {"callers": [{"name": "team-a"}]}}, stack="local")
    routes = [str(node.inputs) for node in graph.all(known.ROUTE)]
    assert [route for route in routes if "'name': 'entry'" in route and "'sectionName': 'web'" in route]
    assert graph.outputs["baseUrl"] == "http://10.0.0.7/v1"


def test_dashboard_and_alerts_read_the_metrics_of_the_cluster_by_its_name_in_gke() -> None:
    gpu = {"name": "l4", "machineType": "g2-standard-8", "maxNodes": 2}
    models = [{"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "l4"}]
    config = {"gcp:project": "some-project", **CHANGES, "llmd-gke:pools": [gpu], "llmd-gke:models": models}
    settings = parse(config, "team").settings
    expressions = [query.promql for one in panels(settings) for query in one.queries]
    expressions += [one.expression for one in alerts(settings)]
    named = {name for text in expressions for name in re.findall(r'\bcluster(?:_name)?="(.*?)"', text)}
    assert named == {"shared", "team"}
    assert [text for text in expressions if '"team"' in text and Google.DRIFT not in text] == []
