from llmd_gke.manifests import scraping
from tests.components import kinds
from tests.components.variants import variant

POD_MONITORING = "kubernetes:monitoring.googleapis.com/v1:PodMonitoring"


def test_servers_and_pickers_of_every_namespace_are_scraped_once() -> None:
    graph = variant("storage")
    made = kinds.of(POD_MONITORING)(graph)
    scraped = [(kinds.metadata(one, "namespace"), kinds.metadata(one, "name")) for one in made]
    assert sorted(scraped, key=str) == [
        (namespace, name) for namespace in ("models", "others") for name in (scraping.PICKERS, scraping.SERVERS)
    ]
    assert [str(one.inputs["spec"]).count("'interval': '15s'") for one in made] == [1] * 4


def test_the_collectors_token_belongs_to_an_account_that_may_read_metrics_and_nothing_else() -> None:
    graph = variant("storage")
    role = graph.find("kubernetes:rbac.authorization.k8s.io/v1:ClusterRole", "monitoring-reader")
    assert role.inputs["rules"] == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
    binding = graph.find("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding", "monitoring-reader-binding")
    subjects = binding.inputs["subjects"]
    assert isinstance(subjects, list)
    assert [one["namespace"] for one in subjects if isinstance(one, dict)] == ["models", "others"]
    for namespace in ("models", "others"):
        token = graph.find(kinds.SECRET, f"monitoring-{namespace}-token")
        account = graph.find("kubernetes:core/v1:ServiceAccount", f"monitoring-{namespace}-account")
        assert graph.comes_before(account, token), "Kubernetes removes a token whose account is missing"
        assert graph.comes_before(token, graph.find(POD_MONITORING, f"monitoring-{namespace}-pickers"))


def test_without_scraping_nothing_of_it_is_made() -> None:
    graph = variant("bare")
    assert kinds.of(POD_MONITORING)(graph) == []
    assert [node.name for node in graph.nodes.values() if node.name.startswith("monitoring")] == []
