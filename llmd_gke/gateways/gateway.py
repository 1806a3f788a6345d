"""The types of the facts about Gateways."""

from __future__ import annotations

from dataclasses import dataclass

from llmd_gke.json_types import JsonObject

INFERENCE_POOL_GROUP = "inference.networking.k8s.io"
"""The only InferencePool group to refer to: ``inference.networking.x-k8s.io`` is the deprecated v1alpha2 one."""


@dataclass(frozen=True)
class RouteFeature:
    """A feature of HTTPRoutes: ``name`` in plain words, ``conformance`` in reports, ``instead`` what to use."""

    name: str
    conformance: str
    instead: str


@dataclass(frozen=True)
class PolicyKind:
    """A kind of policy that is attached to a target; ``plural`` as in the paths of the API."""

    group: str
    version: str
    kind: str
    plural: str

    @property
    def api_version(self) -> str:
        """``GROUP/VERSION``, the ``apiVersion`` of its objects."""
        return f"{self.group}/{self.version}"


@dataclass(frozen=True)
class PolicyTarget:
    """An object of a model's namespace that policies are attached to, by the name ``key`` in their own names."""

    key: str
    reference: JsonObject


@dataclass(frozen=True)
class IdentityProxy:
    """An OAuth client with which a gateway asks for identities: its id, and the Secret with its secret, by name."""

    client_id: str
    secret: str


@dataclass(frozen=True)
class Serving:
    """The values of a model that its policies need. ``port`` and ``health_path`` answer health checks;
    ``timeout_seconds`` is the longest answer, ``draining_seconds`` how long a pod that terminates finishes its running
    requests, ``max_rate`` the requests per second and pod (``None``: no limit).
    ``security_policy`` is the name of what admits addresses (``None``: everyone), ``identity_proxy`` what asks for
    identities (``None``: nothing).
    """

    name: str
    namespace: str
    targets: tuple[PolicyTarget, ...]
    port: int
    health_path: str
    timeout_seconds: int
    draining_seconds: int
    max_rate: int | None
    security_policy: str | None = None
    identity_proxy: IdentityProxy | None = None


GATEWAY_LABEL = "gateway.networking.k8s.io/gateway-name"
"""Label of the pods that a controller in the cluster makes for a Gateway: the Gateway's name (GEP-1762)."""


@dataclass(frozen=True)
class Proxies:
    """A Gateway's proxies that are pods of the cluster, for classes of ``controller``, of which one is
    ``gateway_class``. Its annotation ``service_type`` says of what type their Service is. ``container`` logs requests
    as the page ``logs`` says, with the fields ``status`` and ``why`` and the condition ``slow``; the metrics
    ``requests`` and ``milliseconds`` have the answer's status as label ``code``.
    """

    controller: str
    gateway_class: str
    service_type: str
    container: str
    logs: str
    status: str
    why: str
    slow: str
    requests: str
    milliseconds: str
    code: str


@dataclass(frozen=True)
class Explained:
    """The meaning of a status condition. ``bad``: it does not go away by itself. ``reason`` and ``message`` are regular
    expressions that the condition matches; ``fix`` is a command with the fields ``stack``, ``namespace`` and ``name``.
    """

    bad: bool
    text: str
    type: str
    reason: str = ""
    message: str = ""
    fix: str = ""
