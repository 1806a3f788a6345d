from __future__ import annotations

from typing import Any, cast

from llmd_gke.manifests import naming, serving, tracing
from llmd_gke.settings import ModelSettings, PoolSettings, TracesSettings


def egress(model: ModelSettings, traces: TracesSettings) -> Any:
    policy = cast("Any", tracing.network_policy(model, traces))
    assert policy["spec"]["policyTypes"] == ["Egress"]
    (rule,) = policy["spec"]["egress"]
    return rule


def test_a_service_is_traced_only_where_that_is_asked_for(model: ModelSettings, pool: PoolSettings) -> None:
    assert "tracing" not in cast("Any", serving.service(model, pool))["spec"]
    traces = TracesSettings(endpoint="http://collector.observability.svc:4317", sampling_ratio=0.25)
    assert cast("Any", serving.service(model, pool, traces=traces))["spec"]["tracing"] == {
        "exporter": "otlp",
        "exporterEndpoint": "http://collector.observability.svc:4317",
        "sampler": "parentbased_traceidratio",
        "samplerArg": "0.25",
    }


def test_the_way_out_is_open_to_the_receivers_namespace_and_port_only(model: ModelSettings) -> None:
    rule = egress(model, TracesSettings(endpoint="http://collector.observability.svc.cluster.local:4319"))
    assert rule == {
        "to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "observability"}}}],
        "ports": [{"protocol": "TCP", "port": 4319}],
    }


def test_an_address_is_opened_alone(model: ModelSettings) -> None:
    assert egress(model, TracesSettings(endpoint="http://10.1.2.3:4317"))["to"] == [
        {"ipBlock": {"cidr": "10.1.2.3/32"}}
    ]


def test_cloud_trace_opens_the_way_to_gkes_collector(model: ModelSettings) -> None:
    (peer,) = egress(model, TracesSettings(cloud_trace=True))["to"]
    assert peer["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "gke-managed-otel"}


def test_servers_and_pickers_of_the_model_may_send_traces(model: ModelSettings) -> None:
    policy = cast("Any", tracing.network_policy(model, TracesSettings(cloud_trace=True)))
    selected = policy["spec"]["podSelector"]["matchLabels"]
    for labels in (naming.workload_labels(model.name), naming.picker_labels(model.name)):
        assert selected.items() <= cast("Any", labels).items()
