from __future__ import annotations

from typing import cast

from llmd_gke.graph.recording import Graph
from llmd_gke.rules.budget import LABEL
from tests.components import kinds
from tests.components.kinds import of
from tests.components.variants import variant

BUDGET = "gcp:billing/budget:Budget"


def test_the_limit_is_a_label_of_the_cluster_and_without_one_there_is_neither_label_nor_budget(graph: Graph) -> None:
    (cluster,), (limited,) = of(kinds.CLUSTER)(graph), of(kinds.CLUSTER)(variant("keda"))
    assert LABEL not in str(cluster.inputs)
    assert limited.inputs["resourceLabels"] == {LABEL: "10000"}
    assert of(BUDGET)(graph) + of(BUDGET)(variant("keda")) == []


def test_with_a_billing_account_google_alerts_on_the_clusters_costs() -> None:
    (budget,) = of(BUDGET)(variant("storage"))
    assert budget.inputs["amount"] == {"specifiedAmount": {"units": "90000"}}, "the account's currency"
    shown = cast("dict[str, object]", budget.inputs["budgetFilter"])
    assert shown["labels"] == {"goog-k8s-cluster-name": "llmd-eu4a"}
    assert len(str(budget.inputs["thresholdRules"]).split("thresholdPercent")) == 5
