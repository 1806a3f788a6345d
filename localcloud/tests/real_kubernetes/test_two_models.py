"""A second model beside the first: what clients of the first notice of its coming and going, whom the NetworkPolicies
mean, and what is left when the model is removed.

What a pod is, is known by its owners: the Deployments that KServe reports in the LLMInferenceService's status. Labels
are what is tested. The policies themselves are not enforced in the laptop cloud.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from localcloud.tests.real_kubernetes import models, objects, steady_load
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.models import servers, service
from localcloud.tests.real_kubernetes.policies import NAMESPACE, matching, peers, policy

ROUTES = "httproutes.gateway.networking.k8s.io"
SLOWEST_SECONDS = 10
"""What no request of the first model may take meanwhile; the simulator answers in some milliseconds."""
UNRESOLVED_SECONDS = 60
"""How long the added model's route may be without backends: it is made before them, since KServe waits for it."""


@dataclass
class Meanwhile:
    """What clients of the first model saw before and during an update."""

    before: steady_load.Figures
    during: steady_load.Figures


class Watch:
    """A steady load on the first model while :meth:`up` runs."""

    def __init__(self, laptop: Laptop, load: steady_load.Load) -> None:
        self._laptop, self._load = laptop, load

    def up(self) -> Meanwhile:
        """Brings the stack up; the ten seconds before are what its effect is compared with."""
        first = time.time()
        self._load.await_more(int(10 / steady_load.PAUSE_SECONDS))
        began = time.time()
        self._laptop.up()
        ended = time.time()
        self._load.await_more(1)
        return Meanwhile(self._load.between(first, began), self._load.between(began, ended))


@contextmanager
def watched(laptop: Laptop, folder: Path) -> Generator[Watch]:
    """Load on the first model for as long as the block lasts."""
    with steady_load.steady(laptop, folder / "answers.jsonl", *models.endpoint(laptop)) as load:
        yield Watch(laptop, load)


@pytest.fixture(scope="module")
def addition() -> list[Meanwhile]:
    """What was seen while the second model was added; filled by ``two_models``."""
    return []


@pytest.fixture(scope="module")
def two_models(laptop: Laptop, addition: list[Meanwhile], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    """The stack with a second model in the same namespace, added under load on the first."""
    with models.changed(laptop):
        laptop.edit("local", models.add_second)
        with watched(laptop, tmp_path_factory.mktemp("load")) as watch:
            addition.append(watch.up())
        models.ready_servers(laptop, 1, "small")
        yield laptop


def without_backends(laptop: Laptop, model: str) -> float:
    """Seconds from a route's creation until its backends were there."""
    route = objects.one(laptop, ROUTES, f"{model}-route", objects.MODELS)
    assert route is not None
    (parent,) = route["status"]["parents"]
    resolved = next(one for one in parent["conditions"] if one["type"] == "ResolvedRefs")
    assert resolved["status"] == "True"
    made, then = (
        datetime.fromisoformat(text)
        for text in (route["metadata"]["creationTimestamp"], resolved["lastTransitionTime"])
    )
    return (then - made).total_seconds()


def test_clients_of_the_first_model_notice_nothing_of_a_second_that_is_added(
    two_models: Laptop, addition: list[Meanwhile]
) -> None:
    (seen,) = addition
    seconds = without_backends(two_models, "small")
    assert seen.during.requests > seen.before.requests > 40
    assert seen.before.failed == seen.during.failed == ()
    assert seen.during.worst < SLOWEST_SECONDS
    assert seconds < UNRESOLVED_SECONDS


def pods_that_are(laptop: Laptop, model: str, workload: str) -> set[str]:
    """The pods of a model by what KServe says it made: ``primary`` or ``scheduler``."""
    deployment = models.service(laptop, model)["status"]["workloads"][workload]["name"]
    pods = objects.names(objects.pods_of(laptop, deployment, NAMESPACE))
    assert pods, f"{deployment} has no pods: the test would prove nothing"
    return pods


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


def test_a_removed_model_leaves_nothing_behind_and_the_other_stays(two_models: Laptop, tmp_path: Path) -> None:
    """Last: it takes the second model away."""
    laptop = two_models
    assert objects.condition(service(laptop, "small"), "Ready") == "True"
    kept = objects.names(servers(laptop))
    laptop.edit("local", lambda config: config["llmd-gke:models"].pop())
    with watched(laptop, tmp_path) as watch:
        seen = watch.up()
    assert seen.before.failed == seen.during.failed == ()
    assert seen.during.worst < SLOWEST_SECONDS

    def left() -> set[str]:
        kinds = "deployments,services,pods,inferencepools.inference.networking.k8s.io,httproutes,serviceaccounts"
        more = "llminferenceserviceconfigs.serving.kserve.io,networkpolicies,secrets,configmaps"
        obj = objects.every(laptop, f"{kinds},{more}", namespace=objects.MODELS)
        names = {f"{thing['kind']}/{objects.name(thing)}" for thing in obj}
        return {one for one in names if one.partition("/")[2].startswith("small")}

    until(lambda: not left(), "nothing of the removed model")
    assert objects.names(servers(laptop)) == kept
    assert objects.condition(service(laptop), "Ready") == "True"
