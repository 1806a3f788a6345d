"""The types of the facts about GKE's Gateway."""

from __future__ import annotations

from dataclasses import dataclass

from llmd_gke.json_types import JsonObject

INFERENCE_POOL_GROUP = "inference.networking.k8s.io"
"""The only InferencePool group to refer to: ``inference.networking.x-k8s.io`` is the deprecated v1alpha2 one."""


@dataclass(frozen=True)
class RouteFeature:
    """A feature of HTTPRoutes: ``name`` in plain words, ``conformance`` its name in conformance reports, ``instead``
    what to use in its place.
    """

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
