from __future__ import annotations

from typing import Any, cast

import pytest

from llmd_gke.manifests import naming, serving, tracing
from llmd_gke.settings import ModelSettings, PoolSettings, TracesSettings


def test_a_service_is_traced_only_where_that_is_asked_for(model: ModelSettings, pool: PoolSettings) -> None:
    assert "tracing" not in cast("Any", serving.service(model, pool))["spec"]
    traces = TracesSettings(endpoint="http://collector.observability.svc:4317", sampling_ratio=0.25)
    assert cast("Any", serving.service(model, pool, traces=traces))["spec"]["tracing"] == {
        "exporter": "otlp",
        "exporterEndpoint": "http://collector.observability.svc:4317",
        "sampler": "parentbased_traceidratio",
        "samplerArg": "0.25",
    }


NAMESPACE = "kubernetes.io/metadata.name"


@pytest.mark.parametrize(
    ("traces", "peer", "port"),
    [
        (
            {"endpoint": "http://collector.observability.svc.cluster.local:4319"},
            {"namespaceSelector": {"matchLabels": {NAMESPACE: "observability"}}},
            4319,
        ),
        ({"endpoint": "http://10.1.2.3:4317"}, {"ipBlock": {"cidr": "10.1.2.3/32"}}, 4317),
        ({"cloud_trace": True}, {"namespaceSelector": {"matchLabels": {NAMESPACE: "gke-managed-otel"}}}, 4317),
    ],
    ids=["a Service", "an address", "Cloud Trace"],
)
def test_the_way_out_is_open_to_the_receiver_only(
    model: ModelSettings, traces: dict[str, Any], peer: dict[str, Any], port: int
) -> None:
    spec = cast("Any", tracing.network_policy(model, TracesSettings(**traces)))["spec"]
    assert spec["policyTypes"] == ["Egress"]
    assert spec["egress"] == [{"to": [peer], "ports": [{"protocol": "TCP", "port": port}]}]


def test_servers_and_pickers_of_the_model_may_send_traces(model: ModelSettings) -> None:
    policy = cast("Any", tracing.network_policy(model, TracesSettings(cloud_trace=True)))
    selected = policy["spec"]["podSelector"]["matchLabels"]
    for labels in (naming.workload_labels(model.name), naming.picker_labels(model.name)):
        assert selected.items() <= cast("Any", labels).items()
