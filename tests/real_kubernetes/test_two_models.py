"""A second model beside the first: whom the NetworkPolicies mean, and what is left when the model is removed.

What a pod is, is known by its owners: the Deployments that KServe reports in the LLMInferenceService's status. Labels
are what is tested. The policies themselves are not enforced in the laptop cloud.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.real_kubernetes import models, objects
from tests.real_kubernetes.harness import Laptop, until
from tests.real_kubernetes.models import servers, service
from tests.real_kubernetes.policies import NAMESPACE, matching, peers, policy


@pytest.fixture(scope="module")
def two_models(laptop: Laptop) -> Iterator[Laptop]:
    """The stack with a second model in the same namespace."""
    with models.second_model(laptop):
        yield laptop


def pods_that_are(laptop: Laptop, model: str, workload: str) -> set[str]:
    """The pods of a model by what KServe says it made: ``primary`` or ``scheduler``."""
    deployment = models.service(laptop, model)["status"]["workloads"][workload]["name"]
    found = objects.names(objects.pods_of(laptop, deployment, NAMESPACE))
    assert found, f"{deployment} has no pods: the test would prove nothing"
    return found


@pytest.mark.parametrize("model", ["qwen", "small"])
def test_a_models_own_policies_select_its_servers_and_its_picker_and_nobody_elses(
    two_models: Laptop, model: str
) -> None:
    servers = pods_that_are(two_models, model, "primary")
    pickers = pods_that_are(two_models, model, "scheduler")
    workload, picker = policy(two_models, f"{model}-workload"), policy(two_models, f"{model}-picker")
    assert matching(two_models, NAMESPACE, workload["podSelector"]) == servers
    assert matching(two_models, NAMESPACE, picker["podSelector"]) == pickers
    assert [matching(two_models, NAMESPACE, s) for s in peers(workload["ingress"], "from")] == [pickers]
    assert [matching(two_models, NAMESPACE, s) for s in peers(picker["egress"], "to")] == [servers]


def test_the_closed_default_holds_for_every_pod_of_the_namespace(two_models: Laptop) -> None:
    everything = objects.names(objects.every(two_models, "pods", namespace=NAMESPACE))
    models = [pods_that_are(two_models, m, w) for m in ("qwen", "small") for w in ("primary", "scheduler")]
    assert everything == set[str]().union(*models)
    assert matching(two_models, NAMESPACE, policy(two_models, "default-deny")["podSelector"]) == everything


def test_only_the_named_ports_are_open_and_pods_listen_on_them(two_models: Laptop) -> None:
    for model in ("qwen", "small"):
        for name, workload in ((f"{model}-workload", "primary"), (f"{model}-picker", "scheduler")):
            open_ports = {
                port["port"] for rule in policy(two_models, name)["ingress"] for port in rule.get("ports", [])
            }
            made = models.service(two_models, model)["status"]["workloads"][workload]["name"]
            assert open_ports
            pods = objects.pods_of(two_models, made, NAMESPACE)
            assert pods
            for pod in pods:
                declared = {
                    port["containerPort"] for part in pod["spec"]["containers"] for port in part.get("ports", [])
                }
                assert open_ports <= declared, json.dumps(pod["spec"]["containers"], indent=1)


def test_a_removed_model_leaves_nothing_behind_and_the_other_stays(two_models: Laptop) -> None:
    """Last: it takes the second model away."""
    laptop = two_models
    assert objects.condition(service(laptop, "small"), "Ready") == "True"
    kept = objects.names(servers(laptop))
    laptop.edit("local", lambda config: config["llmd-gke:models"].pop())
    laptop.up()

    def left() -> set[str]:
        kinds = "deployments,services,pods,inferencepools.inference.networking.k8s.io,httproutes,serviceaccounts"
        more = "llminferenceserviceconfigs.serving.kserve.io,networkpolicies,secrets,configmaps"
        found = objects.every(laptop, f"{kinds},{more}", namespace=objects.MODELS)
        names = {f"{thing['kind']}/{objects.name(thing)}" for thing in found}
        return {one for one in names if one.partition("/")[2].startswith("small")}

    until(lambda: not left(), "nothing of the removed model")
    assert objects.names(servers(laptop)) == kept
    assert objects.condition(service(laptop), "Ready") == "True"
