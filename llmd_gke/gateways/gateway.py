"""The facts about an implementation of the Gateway API: classes, address, policies, limits, conditions.

The facts of one are in a module of its own, such as :mod:`llmd_gke.gateways.gke`; everything else uses
:mod:`llmd_gke.gateways`, and names no implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    expressions that the condition matches;
    ``fix`` is a command with the fields ``stack``, ``namespace`` and ``name``.
    """

    bad: bool
    text: str
    type: str
    reason: str = ""
    message: str = ""
    fix: str = ""


@dataclass(frozen=True)
class GatewayImplementation:
    """An implementation of the Gateway API that serves InferencePools."""

    name: str
    """Its name in messages."""
    class_prefix: str
    """Prefix of the names of all its classes."""
    classes: Mapping[str, str]
    """The class for each value of the setting ``exposure``."""
    pool_classes: frozenset[str]
    """Classes that can carry an InferencePool."""
    address: Callable[[str], JsonObject]
    """The entry of ``spec.addresses`` for a reserved address, by the address resource's name."""
    certificate_manager_option: str
    pre_shared_option: str
    certificates_per_listener: int
    """TLS options of a listener, and the most certificates of one."""
    health_check_ranges: tuple[str, ...]
    """Source ranges of its health checks, in addition to the range of its proxies."""
    default_backend_timeout_seconds: int
    """Seconds after which it aborts a response unless a policy sets another limit."""
    keep_alive_seconds: int
    """Seconds for which it keeps an idle connection to a backend, which must keep it longer."""
    longest_draining_seconds: int
    """The longest time that it gives running requests of a backend that is removed."""
    gateway_policy: Callable[[str, str, str | None, bool], JsonObject | None]
    """The policy of a Gateway by name, namespace, SSL policy and access from other regions; ``None`` for none."""
    model_policies: Callable[[Serving], dict[str, JsonObject]]
    """The policies of a model, by the last part of their resources' names."""
    policy_kinds: tuple[PolicyKind, ...]
    """Kinds of policies of which a target may have only one each."""
    refused: Mapping[str, RouteFeature]
    unclaimed: Mapping[str, RouteFeature]
    """Features of HTTPRoutes, by the keys of :mod:`llmd_gke.rules.routes`: those that it rejects, and those that it
    does not claim to support."""
    conditions: tuple[Explained, ...]
    """Conditions of Gateways, routes and policies that only it sets, or that have a special meaning there."""
