"""A front door made by hand: Envoy Gateway and Envoy AI Gateway from their charts, and two models behind them.

So that what the laptop cloud does for it can be tested without the program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from llmd_gke.catalog import versions
from llmd_gke.catalog.front_door import LIMITER_TIMEOUT, SIDECAR
from localcloud import binaries
from localcloud.cluster import front_door as needs
from localcloud.go_builds import charts, modules
from localcloud.tests.real_kubernetes import bare_cluster, objects
from localcloud.tests.real_kubernetes.front_door_objects import (
    AI_SYSTEM,
    CALLER,
    CLOSED,
    DOOR,
    OPEN,
    REDIS,
    SYSTEM,
    door,
    load_balancer,
    redis,
    route,
)
from localcloud.tests.real_kubernetes.harness import Laptop, brought_up, until
from localcloud.tests.real_kubernetes.objects import Object
from localcloud.tests.real_kubernetes.programs import need, skip_unless_built
from localcloud.tests.real_kubernetes.serving import NAMES, Served, ask
from localcloud.workflow import state

GATEWAY_API, INFERENCE = "sigs.k8s.io/gateway-api", "sigs.k8s.io/gateway-api-inference-extension"
ENVOY_GATEWAY = "github.com/envoyproxy/gateway"

PROGRAM = """
import base64
import json
from pathlib import Path

import pulumi
import pulumi_kubernetes as k8s

given = json.loads(Path("given.json").read_text())
provider = k8s.Provider("k8s", kubeconfig=Path(given["kubeconfig"]).read_text())
before = []
for release in given["releases"]:
    options = pulumi.ResourceOptions(provider=provider, depends_on=before)
    before = [k8s.helm.v3.Release(release["name"], **release, create_namespace=True, timeout=300, opts=options)]
"""
"""Installs charts, one after the other: there is no Helm but the one in Pulumi's provider."""


STACK = "door"
"""The shipped stack with a front door."""


@contextmanager
def stack_up(
    folder: Path, change: Callable[[dict[str, Any]], None] | None = None, *programs: str, **environment: str
) -> Generator[Laptop]:
    """A laptop cloud with stack ``door`` up, with its settings changed; ``programs`` are needed besides the usual ones.

    Skipped where the front door's programs are not built.
    """
    need((*binaries.names(), *programs))
    skip_unless_built(needs.PROGRAMS)
    with brought_up(folder, STACK, change, environment) as made:
        yield made


def base(stack: Laptop) -> str:
    """The address that clients are given, without ``/v1``."""
    present = state.read(stack.workdir, STACK)
    assert present is not None
    return str(present.outputs["baseUrl"]).removesuffix("/v1")


def keyed(request: dict[str, Any], key: str, **headers: str) -> dict[str, Any]:
    """The request with a caller's key, if any, and further headers."""
    own = {"authorization": f"Bearer {key}"} if key else {}
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return {**request, "headers": {**own, **request.get("headers", {}), **more}}


def answers(stack: Laptop, *requests: tuple[dict[str, Any], str]) -> list[dict[str, Any]]:
    """The stack's answers to requests, each with a key."""
    return ask(stack, base(stack), *(keyed(one, key) for one, key in requests))


def crds() -> list[Object]:
    """Kinds that no chart here installs: those that Envoy Gateway watches, and objectives."""
    gateway_api = modules.folder(GATEWAY_API, versions.modules()[GATEWAY_API]) / "config/crd/standard"
    own = modules.folder(ENVOY_GATEWAY, versions.modules()[ENVOY_GATEWAY]) / "charts/gateway-helm/charts/crds/crds"
    inference = modules.folder(INFERENCE, versions.modules()[INFERENCE]) / "config/crd/bases"
    # Envoy Gateway 1.8 ends where one of them is missing, and GKE has not all of them (envoyproxy/gateway#9583).
    watched = ("backendtlspolicies", "grpcroutes", "listenersets", "tlsroutes")
    files = [
        *(gateway_api / f"gateway.networking.k8s.io_{plural}.yaml" for plural in watched),
        *sorted((own / "generated").glob("*.yaml")),
        inference / "inference.networking.x-k8s.io_inferenceobjectives.yaml",
    ]
    return [content for file in files for content in yaml.safe_load_all(file.read_text()) if content]


def releases(folder: Path) -> list[dict[str, Any]]:
    """Charts, namespaces and values, in the order of installation."""
    hooks = {kind: {"includeAll": True} for kind in ("listener", "route", "cluster", "secret")}
    extension = {
        "backendResources": [{"group": "inference.networking.k8s.io", "kind": "InferencePool", "version": "v1"}],
        "hooks": {"xdsTranslator": {"translation": hooks, "post": ["Translation", "Cluster", "Route"]}},
        "service": {"fqdn": {"hostname": f"ai-gateway-controller.{AI_SYSTEM}.svc.cluster.local", "port": 1063}},
    }
    gateway = {
        "extensionApis": {"enableBackend": True},
        "extensionManager": extension,
        "rateLimit": {
            "timeout": LIMITER_TIMEOUT,
            "backend": {"type": "Redis", "redis": {"url": f"{REDIS}.{SYSTEM}.svc.cluster.local:6379"}},
        },
    }
    names = f"{CALLER}:caller"
    controller = {
        "mutatingWebhook": {"certManager": {"enable": True}},
        "metricsRequestHeaderAttributes": names,
        "logRequestHeaderAttributes": names,
    }

    def release(name: str, namespace: str, **values: Any) -> dict[str, Any]:
        return {"name": name, "namespace": namespace, "chart": str(folder / name), "values": values}

    return [
        release("cert-manager", "cert-manager", crds={"enabled": True}),
        release("ai-gateway-crds-helm", AI_SYSTEM),
        # First, because it lets Envoy Gateway read InferencePools, without which that is never ready.
        release("ai-gateway-helm", AI_SYSTEM, controller=controller),
        release(
            "gateway-helm",
            SYSTEM,
            crds={"enabled": False},
            topologyInjector={"enabled": False},
            config={"envoyGateway": gateway},
        ),
    ]


def counters(laptop: Laptop) -> dict[str, int]:
    """What Redis has counted: the limiter's keys, which contain the caller's rule, and their numbers."""
    (pod,) = [one for one in objects.pods_of(laptop, REDIS, SYSTEM) if objects.is_ready(one)]
    printed = laptop.python(COUNTERS, pod["status"]["podIP"]).stdout
    return json.loads(printed)


COUNTERS = """
import json, socket, sys
with socket.create_connection((sys.argv[1], 6379), timeout=5) as redis:
    lines = redis.makefile("rb")
    def ask(*words):
        redis.sendall(b"*%d\\r\\n" % len(words) + b"".join(b"$%d\\r\\n%s\\r\\n" % (len(w), w) for w in words))
        return answer()
    def answer():
        head = lines.readline()
        if head[:1] == b"*":
            return [answer() for _ in range(int(head[1:]))]
        if head[:1] == b"$" and int(head[1:]) >= 0:
            return lines.read(int(head[1:]) + 2)[:-2]
        return head[1:].strip()
    print(json.dumps({key.decode(): int(ask(b"GET", key)) for key in ask(b"KEYS", b"*")}))
"""
"""Redis' own protocol: no client of it is installed."""


def model_parts(laptop: Laptop, model: str) -> list[Object]:
    """Servers, picker and pool of a model."""
    edge = ("Gateway", "HTTPRoute", "HealthCheckPolicy", "GCPBackendPolicy")
    # The tokens of a stream come apart: AI Gateway counts the time per token only then.
    served = Served(laptop, model, replicas=1, simulator="--inter-token-latency 20ms")
    parts = [part for part in served.parts.values() if part["kind"] not in edge]
    return json.loads(json.dumps(parts).replace(NAMES[0], model))


def address(laptop: Laptop) -> str:
    """Where the load balancer listens, empty before it has an address."""
    gateway = objects.one(laptop, "gateway.gateway.networking.k8s.io", "edge", SYSTEM) or {}
    return next((entry["value"] for entry in gateway.get("status", {}).get("addresses", [])), "")


def service(laptop: Laptop) -> str:
    """The ClusterIP of the door's Service."""
    return (objects.one(laptop, "service", DOOR, SYSTEM) or {"spec": {"clusterIP": ""}})["spec"]["clusterIP"]


def ready(laptop: Laptop, namespace: str, deployment: str) -> bool:
    """Whether that Deployment has all of its replicas."""
    current = objects.one(laptop, "deployment", deployment, namespace) or {}
    wanted, status = current.get("spec", {}).get("replicas", 1), current.get("status", {})
    return bool(current) and status.get("readyReplicas") == wanted == status.get("updatedReplicas")


def proxies(laptop: Laptop) -> list[Object]:
    """The ready pods of the door's Envoy."""
    listed = objects.every(laptop, "pods", "-l", f"gateway.envoyproxy.io/owning-gateway-name={DOOR}", namespace=SYSTEM)
    return [pod for pod in listed if objects.is_ready(pod)]


def injected(pod: Object) -> bool:
    """Whether AI Gateway's webhook has added its external processor."""
    every = [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]
    return any(one["name"] == SIDECAR for one in every)


def start(laptop: Laptop) -> None:
    """A cluster with all of it, until the Envoys are ready with their external processor."""
    bare_cluster.start(laptop)
    folder = charts.prepare(laptop.workdir.charts, front_door=True)
    laptop.apply(*crds())
    laptop.program(PROGRAM)
    laptop.make("env")
    given = {"kubeconfig": str(laptop.layout.kubeconfig), "releases": releases(folder)}
    (laptop.root / "given.json").write_text(json.dumps(given))
    laptop.pulumi("stack", "init", "local")
    laptop.pulumi("up", "--yes", "--skip-preview", "--stack", "local")
    laptop.apply(*redis())
    laptop.apply(*door())
    for model in (OPEN, CLOSED):
        laptop.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": model}})
        laptop.apply(*model_parts(laptop, model), *route(model))
    laptop.apply(*load_balancer())
    until(lambda: len([pod for pod in proxies(laptop) if injected(pod)]) == 2, "two Envoys with extproc", 120)
    for model in (OPEN, CLOSED):
        until(lambda model=model: ready(laptop, model, "server"), f"the server of {model}", 60)
        until(lambda model=model: ready(laptop, model, "picker"), f"the picker of {model}", 60)
    until(lambda: ready(laptop, SYSTEM, REDIS), "Redis", 60)
    until(lambda: ready(laptop, SYSTEM, "envoy-ratelimit"), "the limiter", 60)
    until(lambda: address(laptop), "the load balancer's address", 30)


def metrics_of_picker(stack: Laptop) -> list[str]:
    """Lines of the metrics of the picker of model ``small``, which asks for a token of somebody who may read them."""
    metadata = {"name": "reader", "namespace": "others"}
    group = "rbac.authorization.k8s.io"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", **metadata}],
    }
    stack.apply(account, binding)
    try:
        token = stack.kubectl("create", "token", "reader", "-n", "others").strip()
        pods = objects.every(stack, "pods", namespace="others")
        (picker,) = [pod for pod in pods if "router-scheduler" in objects.name(pod) and objects.is_ready(pod)]
        request = {"path": "/metrics", "headers": {"authorization": f"Bearer {token}"}}
        (answer,) = ask(stack, f"http://{picker['status']['podIP']}:9090", request)
    finally:
        stack.kubectl("delete", "clusterrolebinding", "reader")
        stack.kubectl("delete", "serviceaccount", "reader", "-n", "others")
    assert answer["status"] == 200, answer
    return answer["text"].splitlines()


def usage_in_metrics(door: Laptop, caller: str) -> int:
    """Tokens of a caller's prompts and answers over all proxies, as Prometheus collects them."""
    own = re.compile(
        rf'gen_ai_client_token_usage_sum{{(?=.*caller="{caller}")(?=.*gen_ai_token_type="(?:input|output)")'
    )
    lines = [line for text in metrics_of_proxies(door) for line in text.splitlines() if own.match(line)]
    return int(sum(float(line.rpartition(" ")[2]) for line in lines))


def metrics_of_proxies(door: Laptop) -> list[str]:
    """What each proxy's sidecar shows at the port that is collected."""
    texts: list[str] = []
    for pod in proxies(door):
        (answer,) = ask(door, f"http://{pod['status']['podIP']}:1064", {"path": "/metrics"})
        assert answer["status"] == 200, answer
        texts.append(answer["text"])
    return texts
