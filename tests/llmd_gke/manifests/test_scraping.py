"""Objects for the collectors of metrics."""

from llmd_gke.catalog import kserve
from llmd_gke.json_types import JsonObject
from llmd_gke.manifests import naming, scraping


def selected(manifest: JsonObject, labels: JsonObject) -> bool:
    spec = manifest["spec"]
    assert isinstance(spec, dict)
    selector = spec.get("selector") or spec["podSelector"]
    assert isinstance(selector, dict)
    wanted = selector["matchLabels"]
    assert isinstance(wanted, dict)
    return wanted.items() <= labels.items()


def ports(manifest: JsonObject) -> list[object]:
    spec = manifest["spec"]
    assert isinstance(spec, dict)
    endpoints = spec["endpoints"]
    assert isinstance(endpoints, list)
    return [one["port"] for one in endpoints if isinstance(one, dict)]


def test_servers_are_scraped_where_they_answer_and_pickers_are_not_taken_for_servers() -> None:
    servers = scraping.servers("models", 30)
    assert selected(servers, naming.workload_labels("qwen"))
    assert not selected(servers, naming.picker_labels("qwen"))
    assert ports(servers) == [kserve.WORKLOAD_PORT]


def test_pickers_are_scraped_where_they_answer_and_servers_are_not_taken_for_pickers() -> None:
    pickers = scraping.pickers("models", 30)
    assert selected(pickers, naming.picker_labels("qwen"))
    assert not selected(pickers, naming.workload_labels("qwen"))
    assert ports(pickers) == [kserve.PICKER_METRICS_PORT]


def test_no_label_is_asked_for_that_collectors_drop_where_a_port_is_a_number() -> None:
    for manifest in (scraping.servers("models", 30), scraping.pickers("models", 30)):
        assert all(isinstance(port, int) for port in ports(manifest))
        spec = manifest["spec"]
        assert isinstance(spec, dict)
        assert isinstance(spec["targetLabels"], dict)
        assert spec["targetLabels"]["metadata"] == ["node", "pod"]


def test_the_network_policy_opens_the_scraped_ports_of_the_scraped_pods_to_collectors_only() -> None:
    policy = scraping.network_policy("models")
    for labels in (naming.workload_labels("qwen"), naming.picker_labels("qwen")):
        assert selected(policy, labels)
    spec = policy["spec"]
    assert isinstance(spec, dict)
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
