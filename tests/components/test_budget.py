"""The budget of a stack in the graph."""

from __future__ import annotations

from typing import cast

from llmd_gke.graph.recording import Graph
from llmd_gke.rules.budget import LABEL
from llmd_gke.settings.load import read_config
from operations.comment.policy_messages import run_policies
from tests.components import kinds
from tests.components.conftest import ROOT, Record
from tests.components.kinds import of

BUDGET = "gcp:billing/budget:Budget"


def test_a_stack_without_a_budget_has_neither_label_nor_budget(graph: Graph) -> None:
    (cluster,) = of(kinds.CLUSTER)(graph)
    assert LABEL not in str(cluster.inputs)
    assert of(BUDGET)(graph) == []


def test_the_limit_is_a_label_of_the_cluster_and_the_policy_accepts_it(record: Record) -> None:
    graph = record({"llmd-gke:budget": {"usdPerHour": 60}})
    (cluster,) = of(kinds.CLUSTER)(graph)
    assert cluster.inputs["resourceLabels"] == {LABEL: "6000"}
    assert of(BUDGET)(graph) == []
    assert [one for one in run_policies("eu4a", graph) if one.mandatory] == []


def test_hosts_without_a_public_price_are_a_warning_of_the_settings_and_no_violation(record: Record) -> None:
    config = read_config(ROOT, "eu4a")
    pool = cast("list[dict[str, object]]", config["llmd-gke:pools"])[0]
    changes: dict[str, object] = {
        "llmd-gke:budget": {"usdPerHour": 60},
        "llmd-gke:cluster": {"name": "llmd-eu4a", "zone": "us-east5-a"},
        "llmd-gke:pools": [{**pool, "capacity": "flex-start", "earlyHosts": 0}],
    }
    graph = record(changes)
    assert [one for one in run_policies("eu4a", graph) if one.mandatory] == []


def test_with_a_billing_account_google_alerts_on_the_clusters_costs(record: Record) -> None:
    graph = record({"llmd-gke:budget": {"usdPerMonth": 40000, "billingAccount": "012345-6789AB-CDEF01"}})
    (budget,) = of(BUDGET)(graph)
    assert budget.inputs["amount"] == {"specifiedAmount": {"units": "40000"}}, "the account's currency"
    shown = budget.inputs["budgetFilter"]
    assert isinstance(shown, dict)
    assert shown["labels"] == {"goog-k8s-cluster-name": "llmd-eu4a"}
    assert len(str(budget.inputs["thresholdRules"]).split("thresholdPercent")) == 5
