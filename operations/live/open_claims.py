"""The open points of docs/not-verified-live.md, by number, and their answers by a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from llmd_gke.catalog.accelerators import POOL_LABEL
from localcloud.kubernetes.fields import conditions, each, label, name, text
from operations.live.evidence import Evidence
from operations.status import gateway, services, stages
from operations.status.objects import Line, Snapshot, State, of

Seen = Literal["yes", "no", "open"]
Answer = tuple[Seen, str]


@dataclass(frozen=True)
class Point:
    """A claim of the page, and the function that answers it from a run's results."""

    number: int
    claim: str
    answer: Callable[[Evidence], Answer]


NOT_SEEN: Answer = ("open", "the run did not get that far")


def _edge(pattern: str) -> Callable[[Evidence], Answer]:
    """An answer from the status lines of the gateway whose subject matches ``pattern``, for all models."""

    def answer(seen: Evidence) -> Answer:
        if seen.snapshot is None:
            return NOT_SEEN
        lines = [
            line
            for model in seen.settings.models
            if not model.stopped
            for line in gateway.model_lines(
                seen.snapshot, model.namespace, model.name, seen.stack, seen.settings.front_door
            )
            if re.search(pattern, line.subject)
        ]
        return _good(lines)

    return answer


def _good(lines: Iterable[Line]) -> Answer:
    listed = list(lines)
    if not listed:
        return NOT_SEEN
    wrong = [line for line in listed if line.state is not State.GOOD]
    if not wrong:
        return "yes", f"{listed[0].subject}: {listed[0].text}"
    return "no" if any(line.state is State.BAD for line in wrong) else "open", f"{wrong[0].subject}: {wrong[0].text}"


def _step(step: str, text: str) -> Callable[[Evidence], Answer]:
    def answer(seen: Evidence) -> Answer:
        verdict = seen.verdict(step)
        if verdict == "passed":
            return "yes", text
        return ("no", f"step {step} failed") if verdict == "failed" else NOT_SEEN

    return answer


def _smoked(check: str) -> Callable[[Evidence], Answer]:
    def answer(seen: Evidence) -> Answer:
        verdict = seen.smoked(check)
        if verdict == "passed":
            return "yes", f"smoke: {check} passed"
        return ("no", f"smoke: {check} failed") if verdict == "failed" else NOT_SEEN

    return answer


def _ready(seen: Evidence) -> Answer:
    if seen.snapshot is None:
        return NOT_SEEN
    services = [of(seen.snapshot.services, one.namespace, one.name) for one in seen.settings.models if not one.stopped]
    states = [text(conditions(service).get("Ready"), "status") for service in services]
    if states and all(state == "True" for state in states):
        return "yes", f"{len(states)} LLMInferenceService(s) Ready"
    return "open", f"Ready is {', '.join(state or 'not reported' for state in states)}"


def _took(resource: str) -> Callable[[Evidence], Answer]:
    """An answer from the engine's event about a resource, with its duration."""

    def answer(seen: Evidence) -> Answer:
        seconds = seen.created.get(resource)
        return NOT_SEEN if seconds is None else ("yes", f"{resource} was created in {seconds} s")

    return answer


def _servers(seen: Evidence, snapshot: Snapshot) -> list[stages.Position]:
    return [
        stages.position(pod)
        for model in seen.settings.models
        for pod in services.pods_of(snapshot, model.namespace, model.name)
    ]


def _server_ready(text: str) -> Callable[[Evidence], Answer]:
    def answer(seen: Evidence) -> Answer:
        positions = _servers(seen, seen.snapshot) if seen.snapshot else []
        if any(position.stage is stages.READY for position in positions):
            return "yes", text
        failing = next((position for position in positions if position.stage is stages.FAILING), None)
        return ("no", failing.detail) if failing else NOT_SEEN

    return answer


def _nodes(seen: Evidence) -> Answer:
    if seen.snapshot is None:
        return NOT_SEEN
    pools = {pool.name for pool in seen.settings.node_pools}
    nodes = [node for node in seen.snapshot.nodes if label(node, POOL_LABEL) in pools]
    ready = [name(node) for node in nodes if text(conditions(node).get("Ready"), "status") == "True"]
    return ("yes", f"{len(ready)} TPU node(s) Ready") if ready else NOT_SEEN


def _pools_known(seen: Evidence) -> Answer:
    if seen.snapshot is None:
        return NOT_SEEN
    if "pools" in seen.snapshot.unreadable:
        return "no", seen.snapshot.unreadable["pools"]
    return "yes", "the cluster serves InferencePool v1"


def _warm(seen: Evidence) -> Answer:
    if seen.snapshot is None or not any(model.warm_up for model in seen.settings.models):
        return NOT_SEEN
    for model in seen.settings.models:
        for pod in services.pods_of(seen.snapshot, model.namespace, model.name):
            for status in each(pod, "status", "containerStatuses"):
                if text(status, "name") == "warm-up" and text(status, "ready") == "True":
                    return "yes", f"container warm-up of {name(pod)} is ready"
    return NOT_SEEN


def _if(
    condition: Callable[[Evidence], bool], answer: Callable[[Evidence], Answer], unless: str
) -> Callable[[Evidence], Answer]:
    return lambda seen: answer(seen) if condition(seen) else ("open", unless)


def _left(seen: Evidence) -> Answer:
    if seen.left is None:
        return "open", "not checked: the stack is not on Google Cloud, or Google must not be queried"
    return (
        ("no", seen.left) if seen.left else ("yes", "no firewall rule, endpoint group, address or disk of the cluster")
    )


POINTS: tuple[Point, ...] = (
    Point(1, "both policies attach to the InferencePool", _edge("policies|health check|backend timeout")),
    Point(2, "GKE accepts the HTTPRoute", _edge(": route$")),
    Point(3, "KServe becomes Ready behind GKE's Gateway", _ready),
    Point(4, "the Gateway is programmed before any route exists", _took("edge-gateway")),
    Point(5, "the InferencePool CRD exists as soon as the GatewayClass does", _pools_known),
    Point(7, "the image tag of the server exists", _server_ready("a server runs from it")),
    Point(8, "the server runs with all capabilities dropped", _server_ready("a server is ready with them dropped")),
    Point(9, "secure boot on TPU hosts", _nodes),
    Point(10, "network policies admit GKE's proxies", _smoked("completion")),
    Point(
        11,
        "a regional external Gateway takes the named address",
        _if(
            lambda seen: seen.settings.gateway.exposure == "external",
            lambda seen: _good(gateway.lines(seen.snapshot, "", seen.stack)) if seen.snapshot else NOT_SEEN,
            "the stack's gateway is internal",
        ),
    ),
    Point(12, "destroy leaves nothing", _left),
    Point(14, "the endpoint picker's TLS without appProtocol", _smoked("completion")),
    Point(
        18,
        "Cloud Storage FUSE mounts weights",
        _if(
            lambda seen: any(model.uses_buckets for model in seen.settings.models),
            _server_ready("a server with a bucket is ready"),
            "no model of the stack uses a bucket",
        ),
    ),
    Point(19, "the warm-up container makes the pod ready", _warm),
    Point(
        21,
        "names resolve with egress to the cluster's resolvers only",
        _if(
            lambda seen: any(model.uri.startswith("hf://") for model in seen.settings.models),
            _server_ready("weights were downloaded by name"),
            "no model of the stack downloads weights",
        ),
    ),
    Point(22, "GKE offers the default version of new clusters", _step("up", "the cluster was created with it")),
    Point(23, "the control plane reaches the webhooks", _step("up", "the runtime configurations were admitted")),
    Point(24, "waitFor on the GatewayClass holds the graph back", _took("gateway-api-class")),
    Point(
        78,
        "a Job copies weights into a bucket",
        _if(
            lambda seen: any(model.weights_cache for model in seen.settings.models),
            _server_ready("a server with a copy is ready"),
            "no model of the stack has weightsCache",
        ),
    ),
)

BY_HAND: Mapping[int, str] = {
    6: "needs a day: pulumi refresh --stack STACK must show no change",
    13: "needs a change of a live stack: pulumi preview --diff in both clouds",
    15: "about this machine, not about Google: make up where the official releases can be reached",
    16: "needs a domain and a certificate: curl -v http://DOMAIN and https://DOMAIN",
    17: "needs HTTPS: gcloud compute target-https-proxies describe",
    20: "needs a second model that is stopped: kubectl -n models get all",
    25: "needs a stack with keys, a shared VPC or maintenance exclusions",
    26: "needs a change of a live pool: pulumi preview --diff",
    27: "needs a model with experimentalMultiHost: the leader's log says `hosts in the group: 4 of 4`",
    28: "needs egress.mode names: the download in the log of storage-initializer, and the picker's pod Ready",
    29: "needs the workflows: `preview` of an unchanged branch says `unchanged` only",
    30: "needs the workflows: `preview` and `drift` pass, and a job without its environment gets no token",
    31: "needs a compile cache in a bucket: no /var/run/secrets/kubernetes.io in the model's pod, which starts",
    32: "needs a compile cache in a bucket: no 403 in the log of gke-gcsfuse-sidecar",
    33: "needs a model's pod: `first completion: 200` in the log of warm-up, as user 65534",
    34: "needs platform.networkPolicies: `pulumi up` gets past platform-kserve-runtime-configs",
    35: "needs a new cluster: the first `pulumi up` makes platform-kserve-namespace",
    36: "needs the identity of the workflow `deploy`: `pulumi up` and `pulumi destroy` by it alone",
    37: "needs a model without a bucket: no line about metadata.google.internal in the server's log",
    38: "llmd-gke status: the models' routes are Accepted",
    39: "needs two accounts: llmd-gke doctor with gcloud and application default credentials of different people",
    40: "llmd-gke doctor: the line `permissions` has an answer",
    41: "kubectl exec: /sys/kernel/mm/transparent_hugepage/enabled says [always]",
    42: "llmd-gke status: pods are HEALTHY under `Google's load balancer`",
    43: "the log of the picker's pod names every plugin of the profile",
    44: "needs a model with waitFor: workloads",
    45: "needs the registries: make digests",
    46: "needs a mirror: pulumi up of a stack with llmd-gke:registry, on nodes that reach nothing else",
    47: "needs a billing account: gcloud billing budgets list; and a cluster that may be lost",
    48: "curl --path-as-is URL/v1/models/%2e%2e/%2e%2e/metrics answers 404",
    49: "needs a second model that is added: `Reconciled` of the first one's route meanwhile",
    50: "pulumi up, and a second one that changes nothing, of a stack with each of these resources",
    51: "about this machine, not about Google: the official plugin, fetched once, and `make up` without a network",
    52: "Metrics explorer: vllm:num_requests_running and inference_pool_ready_pods return series",
    53: "llmd-gke dashboard --open under load: no panel is empty that the TPU type reports",
    54: "needs a stack with cloudTrace: one completion, then the Trace explorer",
    55: "the console's PromQL editor: each alert's expression without its comparison returns a series",
    56: "needs one replica more than the pool has room for, and a server that is killed three times within an hour",
    57: "needs a channel of each kind, then a model's Deployment scaled to 0",
    58: "needs a pool with minNodes in a project without TPU quota: pulumi up twice, then llmd-gke status",
    59: "llmd-gke logs: each of the seven queries returns entries",
    60: "needs a stack with monitoring: pulumi up, and a second one that changes nothing",
    61: "needs a stack with a front door: pulumi up beside the Gateway add-on's CRDs",
    62: "needs a stack with a front door: its Envoys' backend is healthy, and a streamed answer passes",
    63: "needs a stack with a front door: the picker's log names neither an unknown flag nor an unknown resource",
    64: "needs a stack with a front door: the output `curl` with and without a key",
    65: "needs an autoscaled model on GKE 1.37 or newer: kubectl get hpa shows numbers",
    66: "needs a model that KEDA scales: kubectl get scaledobject says ACTIVE True",
    67: "needs an autoscaled model: pulumi up and refresh while a pod is Pending",
    68: "needs a stack with budget.billingAccount: gcloud billing budgets list",
    69: "needs a model with a schedule: its host goes outside of the hours, and comes back",
    70: "needs a cluster of some days: llmd-gke cost --actual shows the hours of its pools",
    71: "needs a list of capacities whose first entry has no stock: events of the pending pod",
    72: "needs a list of capacities: the model's pod is created and gets a host",
    73: "needs a list of capacities with returnToPreferred, and hosts that come back to the first entry",
    74: "needs frontDoor.access.ranges without the own address: 403; gcloud compute backend-services list",
    75: "needs frontDoor.access.iap: the output `curl` with and without IAP_TOKEN",
    76: "needs the identity of the workflow `deploy`, and frontDoor.access: `pulumi up` by it alone",
    77: "needs weights in a bucket: the logs of gke-gcsfuse-sidecar and of the server's start",
    79: "needs weightsCache: the log of the Job's second pod, after the first was deleted half-way",
    80: "needs earlyHosts: kubectl get events -A has no ScaleDown before the model's pod is scheduled",
    81: "needs frontDoor.identity and its issuer: 200 with a token, 401 with a damaged one; again with other keys",
    82: "gcloud container operations list --sort-by=startTime: the operations CREATE_NODE_POOL overlap",
    83: "needs scaling.idleAfterSeconds: a request after the idle time starts a server",
    84: "needs earlyHosts with flex-start or a list: of all events one TriggeredScaleUp, of the Job's pod",
    85: "needs imageCache: every pod runs, with events of reason ImageStreaming",
    86: "events of reason ImageStreaming, of the first model pod",
}
"""Points that a run cannot answer, each with what is needed to answer it."""


def answers(seen: Evidence) -> list[tuple[Point, Seen, str]]:
    """The answer to every point. Only a run on Google Cloud answers any: elsewhere all remain open."""
    if seen.cloud != "google":
        return [(point, "open", f"the {seen.cloud} cannot answer it") for point in POINTS]
    return [(point, *point.answer(seen)) for point in POINTS]
