"""A cluster without the program: what Google would have, written by hand, and every process but the program's own."""

from __future__ import annotations

import json

from localcloud.google_api.rules import references
from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.objects import Object

LOCATION = "projects/rehearsal/locations/europe-west4"
CLUSTER = f"{LOCATION}/clusters/bare"
NODES = 2


def _running(name: str, **inputs: object) -> Object:
    where = {"location": "europe-west4", "nodeLocations": ["europe-west4-a"]}
    return {"status": "RUNNING", "inputs": {"name": name, **where, **inputs}}


MACHINE = {"machineType": "e2-standard-8"}
CLOUD = {
    "objects": {
        references.CLUSTER: {CLUSTER: _running("bare", gatewayApiConfig={"channel": "CHANNEL_STANDARD"})},
        references.NODE_POOL: {
            f"{CLUSTER}/nodePools/system": _running("system", cluster="bare", nodeCount=NODES, nodeConfig=MACHINE)
        },
    }
}


def start(laptop: Laptop) -> None:
    """Starts it and waits for the nodes and the GatewayClasses."""
    laptop.workdir.cloud.mkdir(parents=True, exist_ok=True)
    (laptop.workdir.cloud / "google.json").write_text(json.dumps(CLOUD))
    laptop.start()
    until(lambda: [node for node in objects.every(laptop, "nodes") if objects.is_ready(node)][NODES - 1 :], "the nodes")
    until(lambda: accepted(laptop), "the GatewayClasses")


def accepted(laptop: Laptop) -> bool:
    """Whether every GatewayClass is there and accepted."""
    if not laptop.kubectl("get", "crd", "gatewayclasses.gateway.networking.k8s.io", "--ignore-not-found"):
        return False
    classes = objects.every(laptop, "gatewayclasses.gateway.networking.k8s.io")
    return bool(classes) and all(objects.condition(one, "Accepted") == "True" for one in classes)
