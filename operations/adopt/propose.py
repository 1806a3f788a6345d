"""A stack file for what a cluster has."""

from __future__ import annotations

import re
from collections import Counter

from llmd_common.kubernetes.fields import Object, each, labels, name, namespace, number, text
from llmd_gke.catalog.accelerators import POOL_LABEL, family_of, find_slice, kind_of, topologies
from llmd_gke.catalog.existing import KSERVE
from llmd_gke.gateways import gke
from operations.adopt.model import proposal
from operations.doctor.platform import GATEWAY, ROUTE, Live, controllers, gateway_api, parts
from operations.doctor.result import Result, failed, warning

CONTEXT = re.compile(r"gke_(?P<project>[^_]+)_(?P<location>[^_]+)_(?P<name>[^_]+)")
"""A context as ``gcloud container clusters get-credentials`` names it."""
ZONE = "topology.kubernetes.io/zone"
UNKNOWN = {"project": "PROJECT", "location": "LOCATION", "name": "CLUSTER"}
DESCRIBE = (
    "write what these print: gcloud container clusters describe {name} --project {project} --location {location} "
    "--format 'yaml(network, subnetwork, ipAllocationPolicy)'; gcloud compute networks subnets list "
    "--project {project} --filter purpose=REGIONAL_MANAGED_PROXY"
)
"""How to find the cluster's network, which Kubernetes does not know."""
Table = dict[str, object]


def stack(live: Live, context: str, title: str) -> tuple[Table, list[Result]]:
    """The ``config`` of a stack file that uses what exists, and what it lacks. ``title``: the stack's name."""
    match = CONTEXT.fullmatch(context)
    place = match.groupdict() if match else UNKNOWN
    pools, hosts = _pools(live)
    zones = Counter(one[ZONE] for one in hosts.values()).most_common(1)
    zone = zones[0][0] if zones else "ZONE"
    pools = [{**pool, "zone": at} if (at := hosts[str(pool["name"])][ZONE]) != zone else pool for pool in pools]
    gateway, results = _gateway(live)
    there = {part: one.where for part, one in controllers(live).items() if part.key}
    exposure = "external" if gateway.get("exposure") == "external" else "internal"
    results += [gateway_api(live, gke.CLASSES[exposure]), *parts(live, there, door=False, scaled=False)]
    models: list[Table] = []
    for service in live.of(KSERVE.crd):
        made, lost = proposal(service, hosts)
        models.append(made)
        results += [warning(f"model {name(service)}", f"not carried over: {one}", "") for one in lost]
    gaps = {
        "cluster": "" if match else f"the context {context or 'in use'} is not gcloud's: write project, location, name",
        "network": DESCRIBE.format(**place),
        "pools": "" if pools else "no node with TPUs or GPUs runs: describe its pool by hand, with existing: true",
        "models": "" if models else "there is no LLMInferenceService: write a model",
    }
    results += [failed(what, "the stack file has a gap here", fix) for what, fix in gaps.items() if fix]
    existing = {
        "name": place["name"],
        "location": place["location"],
        "controllers": {part.key: where for part, where in there.items()},
        "namespaces": sorted({namespace(one) for one in live.of(KSERVE.crd)}),
    }
    config: Table = {
        "gcp:project": place["project"],
        "llmd-gke:cluster": {"name": title, "zone": zone, "existing": existing},
        "llmd-gke:network": {"existing": {"network": "NETWORK", "subnet": "SUBNET"}, "proxies": "PROXIES"},
        "llmd-gke:pools": pools,
        "llmd-gke:models": models,
    }
    return {**config, **({"llmd-gke:gateway": gateway} if gateway else {})}, results


def _pools(live: Live) -> tuple[list[Table], dict[str, dict[str, str]]]:
    found: dict[str, dict[str, str]] = {}
    settings: dict[str, Table] = {}
    nodes = live.of("Node")
    counts = Counter(labels(one).get(POOL_LABEL, "") for one in nodes)
    for node in nodes:
        marks = labels(node)
        machine, pool = marks.get("node.kubernetes.io/instance-type", ""), marks.get(POOL_LABEL, "")
        kind, family = kind_of(machine), family_of(machine)
        if family is None or marks.get(kind.family_label) != family.label_value:
            continue
        topology = marks.get(kind.topology_label, "")
        counted = len(topologies(machine)) > 1 and not kind.topology_label
        group = find_slice(machine, topology)
        made: Table = {
            "name": pool,
            "machineType": machine,
            "topology": topology,
            "gpus": number(node, "status", "capacity", kind.resource) if counted else None,
            # An update of a model of single hosts needs one more than run.
            "maxNodes": counts[pool] + (0 if group is not None and group.multi_host else 1),
            "existing": True,
            "capacity": "spot" if marks.get("cloud.google.com/gke-spot") == "true" else None,
        }
        found[pool], settings[pool] = marks, {key: value for key, value in made.items() if value}
    return [*settings.values()], found


def _gateway(live: Live) -> tuple[Table, list[Result]]:
    """The settings for the Gateway that most routes are attached to (empty without one), and why others are not."""
    usable: list[Object] = []
    results: list[Result] = []
    for one in live.of(GATEWAY):
        kind, title = text(one, "spec", "gatewayClassName"), f"Gateway {namespace(one)}/{name(one)}"
        if kind not in gke.INFERENCE_POOL_CLASSES:
            fix = "the stack makes a regional one: move the clients to its address, then delete this"
            results.append(warning(title, f"class {kind} cannot carry an InferencePool: it always answers 503", fix))
        elif each(one, "status", "addresses"):
            usable.append(one)
    parents = Counter(
        (text(parent, "namespace") or namespace(route), text(parent, "name"))
        for route in live.of(ROUTE)
        for parent in each(route, "spec", "parentRefs")
    )
    gateway = max(usable, key=lambda one: parents[namespace(one), name(one)], default=None)
    if gateway is None:
        return {}, results
    listeners = each(gateway, "spec", "listeners")
    listener = next((one for one in listeners if text(one, "protocol") == "HTTPS"), listeners[0])
    https, domain = text(listener, "protocol") == "HTTPS", text(listener, "hostname")
    external = text(gateway, "spec", "gatewayClassName") == gke.REGIONAL_EXTERNAL
    existing = {
        "name": name(gateway),
        "namespace": namespace(gateway),
        "listener": text(listener, "name"),
        "address": text(each(gateway, "status", "addresses")[0], "value"),
        "https": https,
    }
    made: Table = {
        "existing": existing,
        "exposure": "external" if external else "internal",
        # As it is now: everyone who reaches the address may use the models.
        "open": external,
        "allowPlainHttp": external and not https,
        "domain": domain,
    }
    return {key: value for key, value in made.items() if value}, results
