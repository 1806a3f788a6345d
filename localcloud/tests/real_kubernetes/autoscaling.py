"""A model whose replicas follow its load on a laptop cloud: settings, streams that make a load, what scales it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from llmd_gke.catalog.scaling import SHORTEST_IDLE_SECONDS
from localcloud.tests.real_kubernetes import models, objects
from localcloud.tests.real_kubernetes import streams as many
from localcloud.tests.real_kubernetes.harness import Laptop
from localcloud.tests.real_kubernetes.serving import ask, chat
from localcloud.tests.real_kubernetes.streams import Streams

SCALED_OBJECT, HPA, NAME = "scaledobjects.keda.sh", "horizontalpodautoscalers", "qwen-replicas"
DEPLOYMENT = "qwen-kserve"
MANAGER = "tests-patch"
"""The owner of fields that tests change past the program."""
FEWEST, MOST = 1, 3
STREAMS = 200
"""More streams at once than three replicas take."""
AT_ONCE = 64
"""Requests that a server takes at once."""
SIMULATOR = "--time-to-first-token 2s --inter-token-latency 800ms"
"""A stream of ten tokens takes nine seconds."""
UNCHANGED = re.compile(r"^Resources:\n +\d+ unchanged$", re.MULTILINE)
"""What the engine prints at the end of a command that changes nothing."""
SCALE_SECONDS = 400.0
"""The longest that a change of the number may take on a busy machine: a window of 60 s, and 15 s for each replica."""


def settings(config: dict[str, Any]) -> None:
    """Bounds instead of a number, with the shortest times that the settings allow."""
    model = models.first(config)
    del model["replicas"]
    model |= {
        "minReplicas": FEWEST,
        "maxReplicas": MOST,
        "maxNumSeqs": AT_ONCE,
        "scaling": {"waitingPerReplica": 2, "scaleUpEverySeconds": 15, "scaleDownAfterSeconds": 60},
    }


@contextmanager
def streams(laptop: Laptop, file: Path, count: int) -> Generator[Streams]:
    """So many streams at once for as long as the block lasts."""
    url, model = models.endpoint(laptop)
    with many.streams(laptop, file, url.removesuffix("/v1"), [{"model": model, "key": "none", "count": count}]) as made:
        yield made


def autoscaler(laptop: Laptop) -> objects.Object:
    """The model's HorizontalPodAutoscaler: KEDA's, or the program's own."""
    obj = objects.one(laptop, HPA, NAME, objects.MODELS)
    assert obj is not None, "there is no HorizontalPodAutoscaler"
    return obj


def deployment(laptop: Laptop) -> objects.Object:
    """The model's Deployment."""
    return laptop.get("deployment", DEPLOYMENT, "-n", objects.MODELS)


def labels(laptop: Laptop) -> dict[str, str]:
    """The labels of the model's Deployment."""
    return deployment(laptop)["metadata"]["labels"]


def await_replicas(laptop: Laptop, count: int) -> None:
    """Waits for exactly so many servers, all of them ready."""
    models.ready_servers(laptop, count, wait_seconds=SCALE_SECONDS)


def evaluations_without_numbers(laptop: Laptop) -> int:
    """How often the autoscaler has found no value for its metrics so far, by the log of its controller."""
    return laptop.log("kube-controller-manager").count("unable to get external metric")


def nodes(laptop: Laptop) -> list[str]:
    """The names of the TPU nodes."""
    return sorted(objects.names(objects.every(laptop, "nodes", "-l", "cloud.google.com/gke-tpu-accelerator")))


def rescales(laptop: Laptop) -> int:
    """How often the autoscaler has changed the number so far, by its events."""
    events = objects.every(laptop, "events", namespace=objects.MODELS)
    return sum(
        event.get("count", 1)
        for event in events
        if event["reason"] == "SuccessfulRescale" and event["involvedObject"]["name"] == NAME
    )


@contextmanager
def patched(
    laptop: Laptop, kind: str = SCALED_OBJECT, name: str = NAME, *, namespace: str = objects.MODELS, **spec: Any
) -> Generator[None]:
    """An object has other fields below ``spec`` meanwhile, past the program, which may change them later."""

    def read() -> objects.Object:
        return laptop.get(kind, name, "-n", namespace, "--show-managed-fields")

    def patch(**values: Any) -> None:
        manager = f"--field-manager={MANAGER}"
        laptop.kubectl("patch", kind, name, "-n", namespace, "--type=merge", manager, "-p", json.dumps(values))

    kept = read()["spec"]
    patch(spec=spec)
    try:
        yield
    finally:
        patch(spec={key: kept[key] for key in spec})
        # The program's next change of these fields would conflict with their owner.
        owners = [one for one in read()["metadata"]["managedFields"] if one["manager"] != MANAGER]
        patch(metadata={"managedFields": owners})


IDLE_SECONDS, COOLDOWN_SECONDS = 60, 5
"""In place of the settings' shortest time, and of 300."""


def shorter_idle_time(laptop: Laptop, name: str = NAME, namespace: str = objects.MODELS) -> dict[str, Any]:
    """Fields of the ScaledObject with the program's own query, for a shorter idle time."""
    spec = laptop.get(SCALED_OBJECT, name, "-n", namespace)["spec"]
    triggers = spec["triggers"]
    for trigger in triggers:
        query = trigger["metadata"]["query"]
        trigger["metadata"]["query"] = query.replace(f"{SHORTEST_IDLE_SECONDS}s", f"{IDLE_SECONDS}s")
    assert triggers != laptop.get(SCALED_OBJECT, name, "-n", namespace)["spec"]["triggers"]
    return {"triggers": triggers, "cooldownPeriod": COOLDOWN_SECONDS}


def status(laptop: Laptop) -> int:
    """The status of one request to the model's own address."""
    url, name = models.endpoint(laptop)
    (answer,) = ask(laptop, url.removesuffix("/v1"), chat("hello", model=name, max_tokens=1))
    return answer["status"]


@contextmanager
def may_have_no_server(laptop: Laptop, change: Callable[[dict[str, Any]], None]) -> Generator[None]:
    """The model has other settings meanwhile; afterwards it has a server, also where a test has failed without one.

    Without any server KEDA has no number of requests, and with the settings as they were it would start none.
    """
    with models.changed(laptop):
        try:
            laptop.edit("local", lambda config: change(models.first(config)))
            laptop.up()
            yield
        finally:
            laptop.kubectl("scale", "deployment", DEPLOYMENT, "-n", objects.MODELS, "--replicas=1")
            models.ready_servers(laptop, 1)


QUICKLY = {"stabilizationWindowSeconds": 0, "policies": [{"type": "Pods", "value": 1, "periodSeconds": 15}]}
"""A replica less every 15 s, instead of every ten minutes."""


def quick_down(laptop: Laptop) -> dict[str, Any]:
    """``advanced`` of the ScaledObject, so that replicas are removed quickly."""
    advanced = laptop.get(SCALED_OBJECT, NAME, "-n", objects.MODELS)["spec"]["advanced"]
    advanced["horizontalPodAutoscalerConfig"]["behavior"]["scaleDown"] |= QUICKLY
    return advanced


@contextmanager
def nothing_collected(laptop: Laptop) -> Generator[None]:
    """The PodMonitorings of the models are gone meanwhile: Prometheus scrapes no server."""
    monitoring = objects.every(laptop, "podmonitorings", namespace=objects.MODELS)
    for obj in monitoring:
        for field in ("uid", "resourceVersion", "managedFields", "creationTimestamp", "generation"):
            obj["metadata"].pop(field, None)
    assert monitoring
    laptop.kubectl("delete", "podmonitorings", "--all", "-n", objects.MODELS)
    try:
        yield
    finally:
        laptop.apply(*monitoring)


@contextmanager
def back_to_one(laptop: Laptop) -> Generator[None]:
    """Afterwards there is one replica again, sooner than the settings would allow."""
    try:
        yield
    finally:
        with patched(laptop, advanced=quick_down(laptop)):
            await_replicas(laptop, FEWEST)
