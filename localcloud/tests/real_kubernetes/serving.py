"""A model served without KServe: simulators, endpoint picker, InferencePool, Gateway, route and GKE's policies by hand.

So that one of them can be broken, or be made slow, without a change of the program's own model.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from llmd_gke.manifests import routing
from llmd_gke.settings import GatewaySettings, ModelSettings
from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.objects import Object

CLIENT = Path(__file__).with_name("client.py")
SERVER_IMAGE = "docker.io/vllm/vllm-tpu:v0.27.0"
PICKER_IMAGE = "registry.k8s.io/gateway-api-inference-extension/epp:v1.5.0"
NAMES = ("hand-made", "publishers/hand-made/models/hand-made")
POOL_GROUP = "inference.networking.k8s.io"

SCORERS = (("queue-scorer", 2), ("kv-cache-utilization-scorer", 2), ("prefix-cache-scorer", 3))


def scheduler() -> Object:
    """What the program gives its pickers, without the scorer that spreads prompts without any prefix."""
    used = [{"pluginRef": kind, "weight": weight} for kind, weight in SCORERS]
    return {
        "apiVersion": "inference.networking.x-k8s.io/v1alpha1",
        "kind": "EndpointPickerConfig",
        "plugins": [{"type": kind} for kind in ("single-profile-handler", *dict(SCORERS), "max-score-picker")],
        "schedulingProfiles": [{"name": "default", "plugins": [*used, {"pluginRef": "max-score-picker"}]}],
    }


@dataclass
class Served:
    """One such model in a namespace of its own. ``parts`` are its objects by kind and name.

    ``arguments`` are the server's own, ``simulator`` those that only the simulator knows.
    """

    laptop: Laptop
    namespace: str
    replicas: int = 3
    gateway_class: str = "gke-l7-rilb"
    simulator: str = ""
    arguments: tuple[str, ...] = ()
    parts: dict[str, Object] = field(default_factory=dict[str, Object])

    def __post_init__(self) -> None:
        made = [*self._servers(), *self._picker(), *self._edge()]
        self.parts = {f"{one['kind']}/{objects.name(one)}": one for one in made}

    # -- parts -------------------------------------------------------------------------------------------------------

    def _meta(self, name: str, **more: Any) -> Object:
        return {"name": name, "namespace": self.namespace, **more}

    def _deployment(self, name: str, replicas: int, pod: Object) -> Object:
        template = {"metadata": {"labels": {"app": name}}, "spec": pod}
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": self._meta(name),
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
        }

    def _service(self, name: str, **ports: int) -> Object:
        listed = [{"name": called, "port": port, "targetPort": port} for called, port in ports.items()]
        spec = {"selector": {"app": name}, "ports": listed}
        return {"apiVersion": "v1", "kind": "Service", "metadata": self._meta(name), "spec": spec}

    def _servers(self) -> list[Object]:
        container = {
            "name": "main",
            "image": SERVER_IMAGE,
            "command": ["vllm", "serve", "/mnt/models"],
            "args": ["--served-model-name", *NAMES, "--port", "8000", *self.arguments],
            "env": [
                {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
                {"name": "LLMD_GKE_SIMULATOR_ARGS", "value": self.simulator},
            ],
            "readinessProbe": {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 1},
        }
        pod = {"containers": [container], "terminationGracePeriodSeconds": 5}
        return [self._deployment("server", self.replicas, pod), self._service("server", http=8000)]

    def _picker(self) -> list[Object]:
        container = {
            "name": "main",
            "image": PICKER_IMAGE,
            "args": [
                "--pool-name=pool",
                f"--pool-namespace={self.namespace}",
                f"--config-text={json.dumps(scheduler())}",
                "--tracing=false",
            ],
            "readinessProbe": {"grpc": {"port": 9003, "service": "readiness"}, "periodSeconds": 1},
        }
        role = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": self._meta("picker"),
            "rules": [
                {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]},
                {
                    "apiGroups": [POOL_GROUP, "inference.networking.x-k8s.io"],
                    "resources": ["inferencepools", "inferenceobjectives", "inferencemodelrewrites"],
                    "verbs": ["get", "list", "watch"],
                },
            ],
        }
        binding = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": self._meta("picker"),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "picker"},
            "subjects": [{"kind": "ServiceAccount", "name": "picker", "namespace": self.namespace}],
        }
        pool = {
            "apiVersion": f"{POOL_GROUP}/v1",
            "kind": "InferencePool",
            "metadata": self._meta("pool"),
            "spec": {
                "selector": {"matchLabels": {"app": "server"}},
                "targetPorts": [{"number": 8000}],
                "endpointPickerRef": {"name": "picker", "port": {"number": 9002}, "failureMode": "FailOpen"},
            },
        }
        pod = {"containers": [container], "serviceAccountName": "picker", "terminationGracePeriodSeconds": 5}
        return [
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": self._meta("picker")},
            role,
            binding,
            self._deployment("picker", 1, pod),
            self._service("picker", grpc=9002, health=9003),
            pool,
        ]

    def _edge(self) -> list[Object]:
        pool = {"group": POOL_GROUP, "kind": "InferencePool", "name": "pool"}
        service = {"kind": "Service", "name": "server", "port": 8000}
        route = {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": self._meta("route"),
            "spec": {
                "parentRefs": [{"name": "gateway"}],
                "rules": [_rule("/v1/models", service), _rule("/health", service), _rule("/v1", pool)],
            },
        }
        gateway = {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": self._meta("gateway"),
            "spec": {
                "gatewayClassName": self.gateway_class,
                "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}],
            },
        }
        return [gateway, route, *self._policies("InferencePool", "pool"), *self._policies("Service", "server")]

    def _policies(self, kind: str, name: str) -> list[Object]:
        group = POOL_GROUP if kind == "InferencePool" else ""
        target = {"group": group, "kind": kind, "name": name}
        asked = {"requestPath": "/health", "port": 8000, "portSpecification": "USE_FIXED_PORT"}
        check = {
            "checkIntervalSec": 1,
            "timeoutSec": 1,
            "healthyThreshold": 1,
            "config": {"type": "HTTP", "httpHealthCheck": asked},
        }
        return [
            self._policy("HealthCheckPolicy", f"health-{name}", target, check),
            self._policy("GCPBackendPolicy", f"backend-{name}", target, {"timeoutSec": 300}),
        ]

    def _policy(self, kind: str, name: str, target: Object, default: Object) -> Object:
        return {
            "apiVersion": "networking.gke.io/v1",
            "kind": kind,
            "metadata": self._meta(name),
            "spec": {"targetRef": target, "default": default},
        }

    # -- doing -------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Makes everything, and waits until the Gateway is programmed and the servers are ready."""
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        self.laptop.apply(space)
        self.laptop.apply(*self.parts.values())
        until(lambda: self.address, f"an address of the Gateway in {self.namespace}")
        until(lambda: len(self.ready("server")) == self.replicas, f"{self.replicas} servers in {self.namespace}")
        until(lambda: self.ready("picker"), f"the picker in {self.namespace}")

    def remove(self) -> None:
        """Deletes the namespace and waits until it is gone."""
        self.laptop.kubectl("delete", "namespace", self.namespace, "--wait", "--timeout=60s")

    def await_answers(self, path: str = "/v1/models") -> None:
        """Waits until the load balancer knows a healthy backend of that path."""
        until(lambda: self.ask({"path": path})[0]["status"] == 200, f"an answer at {path} in {self.namespace}")

    def put(self, *changed: Object) -> None:
        """Applies changed or further objects."""
        self.laptop.apply(*changed)

    def drop(self, kind: str, name: str) -> None:
        """Deletes one object."""
        self.laptop.kubectl("delete", kind, name, "-n", self.namespace)

    def ready(self, app: str) -> list[Object]:
        """The ready pods of a Deployment."""
        return [pod for pod in objects.pods_of(self.laptop, app, self.namespace) if objects.is_ready(pod)]

    @property
    def gateway(self) -> Object:
        """The Gateway as it is."""
        obj = objects.one(self.laptop, "gateway.gateway.networking.k8s.io", "gateway", self.namespace)
        assert obj is not None
        return obj

    @property
    def address(self) -> str:
        """Its address, empty before it has one."""
        return next((entry["value"] for entry in self.gateway.get("status", {}).get("addresses", [])), "")

    def ask(self, *requests: Object, at_once: int = 1, seconds: float = 120) -> list[Any]:
        """Sends requests to the Gateway from inside; what came back, in the order of the requests."""
        return ask(self.laptop, f"http://{self.address}", *requests, at_once=at_once, seconds=seconds)

    def log(self) -> list[Any]:
        """What the load balancer has logged of this Gateway's requests."""
        return logged(self.laptop, f"{self.namespace}_gateway_")


def _rule(path: str, backend: Object) -> Object:
    return {"matches": [{"path": {"type": "PathPrefix", "value": path}}], "backendRefs": [backend]}


def program_route(model: ModelSettings, *gateways: str) -> Object:
    """The program's own route of a model, at these Gateways and to the backends that :class:`Served` makes."""
    route = cast("Object", routing.route(model, GatewaySettings()))
    route["metadata"]["name"] = "route"
    route["spec"]["parentRefs"] = [{"name": name} for name in gateways]
    for rule in route["spec"]["rules"]:
        for backend in rule["backendRefs"]:
            backend["name"] = "pool" if backend["kind"] == "InferencePool" else "server"
    return route


def logged(laptop: Laptop, backend: str) -> list[Any]:
    """What the load balancer has logged of requests to backends whose name begins so."""
    file = laptop.layout.root / "gateway" / "envoy" / "access.log"
    entries = [json.loads(line) for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [entry for entry in entries if str(entry["backend"]).startswith(backend)]


def ask(laptop: Laptop, base: str, *requests: Object, at_once: int = 1, seconds: float = 120) -> list[Any]:
    """Sends requests from inside a laptop cloud, so many at once; what came back, in their order."""
    request = {"base": base, "at_once": at_once, "seconds": seconds, "requests": list(requests)}
    done = laptop.inside(sys.executable, "-P", str(CLIENT), stdin=json.dumps(request), timeout=seconds + 60)
    return json.loads(done.stdout)


def prompt(length: int, seed: int) -> str:
    """So many words that no other seed gives."""
    return " ".join(f"{seed}word{index}" for index in range(length))


def chat(text: str, *, model: str = NAMES[0], path: str = "/v1/chat/completions", **more: Any) -> Object:
    """A chat completion."""
    messages = [{"role": "user", "content": text}]
    return {"path": path, "body": {"model": model, "messages": messages, "max_tokens": 32, **more}}


def completion(text: str, *, model: str = NAMES[0], path: str = "/v1/completions", **more: Any) -> Object:
    """A completion."""
    return {"path": path, "body": {"model": model, "prompt": text, "max_tokens": 32, **more}}
