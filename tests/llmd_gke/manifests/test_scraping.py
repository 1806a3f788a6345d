from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmd_gke.catalog import kserve
from llmd_gke.json_types import JsonObject
from llmd_gke.manifests import naming, scraping


def spec_of(manifest: JsonObject) -> Any:
    return manifest["spec"]


def selected(manifest: JsonObject, labels: JsonObject) -> bool:
    spec = spec_of(manifest)
    return (spec.get("selector") or spec["podSelector"])["matchLabels"].items() <= labels.items()


@pytest.mark.parametrize(
    ("manifest", "ours", "others", "port"),
    [
        (scraping.servers, naming.workload_labels, naming.picker_labels, kserve.WORKLOAD_PORT),
        (scraping.pickers, naming.picker_labels, naming.workload_labels, kserve.PICKER_METRICS_PORT),
    ],
)
def test_servers_and_pickers_are_scraped_where_they_answer_and_neither_is_taken_for_the_other(
    manifest: Callable[[str, int], JsonObject],
    ours: Callable[[str], JsonObject],
    others: Callable[[str], JsonObject],
    port: int,
) -> None:
    made = manifest("models", 30)
    assert selected(made, ours("qwen"))
    assert not selected(made, others("qwen"))
    assert [one["port"] for one in spec_of(made)["endpoints"]] == [port]
    assert spec_of(made)["targetLabels"]["metadata"] == ["node", "pod"], "collectors drop more where a port is a number"


def test_the_network_policy_opens_the_scraped_ports_of_the_scraped_pods_to_collectors_only() -> None:
    policy = scraping.network_policy("models")
    for labels in (naming.workload_labels("qwen"), naming.picker_labels("qwen")):
        assert selected(policy, labels)
    spec = spec_of(policy)
    assert spec["policyTypes"] == ["Ingress"], "what pods may reach is decided elsewhere"
    assert spec["ingress"] == [
        {
            "from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "gmp-system"}}}],
            "ports": [{"protocol": "TCP", "port": port} for port in (8000, 9090)],
        }
    ]


def test_the_collectors_may_read_the_one_token_by_name() -> None:
    role = scraping.read_token("models")
    assert role["rules"] == [
        {
            "apiGroups": [""],
            "resources": ["secrets"],
            "resourceNames": ["metrics-reader-token"],
            "verbs": ["get", "list", "watch"],
        }
    ]
    binding = scraping.read_token_binding("models")
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "collector", "namespace": "gmp-system"}]
