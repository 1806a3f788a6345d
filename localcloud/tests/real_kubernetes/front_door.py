"""The stack with a front door on a laptop cloud, and what can be seen of its door."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from llmd_gke.catalog.front_door import NAME, PROXIES_NAMESPACE, REDIS
from localcloud import binaries
from localcloud.cluster import front_door as needs
from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.harness import Laptop, brought_up
from localcloud.tests.real_kubernetes.objects import Object
from localcloud.tests.real_kubernetes.programs import need, skip_unless_built
from localcloud.tests.real_kubernetes.serving import ask
from localcloud.workflow import state

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


def counters(laptop: Laptop) -> dict[str, int]:
    """What Redis has counted: the limiter's keys, which contain the caller's rule, and their numbers."""
    (pod,) = [one for one in objects.pods_of(laptop, REDIS, PROXIES_NAMESPACE) if objects.is_ready(one)]
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


def service(laptop: Laptop) -> str:
    """The ClusterIP of the door's Service."""
    return laptop.get("service", NAME, "-n", PROXIES_NAMESPACE)["spec"]["clusterIP"]


def ready(laptop: Laptop, namespace: str, deployment: str) -> bool:
    """Whether that Deployment has all of its replicas."""
    current = objects.one(laptop, "deployment", deployment, namespace) or {}
    wanted, status = current.get("spec", {}).get("replicas", 1), current.get("status", {})
    return bool(current) and status.get("readyReplicas") == wanted == status.get("updatedReplicas")


def kill(laptop: Laptop, namespace: str, start: str, count: int) -> None:
    """Kills so many pods whose name begins so."""
    pods = [objects.name(pod) for pod in objects.every(laptop, "pods", namespace=namespace)]
    names = [name for name in pods if name.startswith(start)][:count]
    assert names
    laptop.kubectl("delete", "pod", *names, "-n", namespace, "--grace-period=0", "--force", "--wait=false")


def proxies(laptop: Laptop) -> list[Object]:
    """The ready pods of the door's Envoy."""
    chosen = f"gateway.envoyproxy.io/owning-gateway-name={NAME}"
    listed = objects.every(laptop, "pods", "-l", chosen, namespace=PROXIES_NAMESPACE)
    return [pod for pod in listed if objects.is_ready(pod)]


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
