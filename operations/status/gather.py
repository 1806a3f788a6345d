"""Reads the cluster: all kinds at once, each with its own failure."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import cast

import httpx
import kr8s
import yaml

from llmd_common.kubernetes.client import PODS, Kube, KubeError, Resource
from llmd_common.kubernetes.client import Unreachable as Unanswered
from llmd_common.kubernetes.fields import Object, label, name, namespace
from llmd_gke.catalog import kserve
from llmd_gke.gateways import gke
from llmd_gke.manifests import naming
from operations.exits import SetUpFailed, Unreachable
from operations.printing import short
from operations.status import stages
from operations.status.objects import Snapshot

REQUEST_SECONDS = 10.0

LOG_BYTES = 1 << 20
"""Of the beginning of a server's log, where its stages are: its end may be requests only."""

KINDS: tuple[tuple[str, str, str, bool], ...] = (
    ("nodes", "v1", "nodes", False),
    ("pods", "v1", "pods", False),
    ("services", kserve.API_VERSION, kserve.SERVICES, True),
    ("gateways", "gateway.networking.k8s.io/v1", "gateways", True),
    ("routes", "gateway.networking.k8s.io/v1", "httproutes", True),
    ("pools", "inference.networking.k8s.io/v1", "inferencepools", True),
    ("health_policies", gke.HEALTH_CHECK.api_version, gke.HEALTH_CHECK.plural, True),
    ("backend_policies", gke.BACKEND_POLICY.api_version, gke.BACKEND_POLICY.plural, True),
    ("events", "v1", "events", True),
)
"""Field of the snapshot, API version, resource; whether only our namespaces are listed."""


class ListRefused(Exception):
    """The API server rejected the listing of a kind; the message contains the reason."""


class SignedOut(Exception):
    """The API server does not accept the token, which may have expired: sign in again with
    :meth:`ClusterApi.connect`.
    """

    def __init__(self) -> None:
        super().__init__("The cluster's API rejects the credentials.\nFix: gcloud auth login")


class ClusterApi:
    """A cluster's API, with the kubeconfig from the outputs."""

    def __init__(self, kube: Kube, namespaces: Collection[str]) -> None:
        self._kube = kube
        self._namespaces = sorted({*namespaces, naming.GATEWAY_NAMESPACE, kserve.NAMESPACE})

    @classmethod
    async def connect(cls, kubeconfig: str, namespaces: Collection[str]) -> ClusterApi:
        """Connects to the cluster and signs in.

        Raises ``SetUpFailed`` without the credential plugin, ``SignedOut`` if its token is not accepted, and
        ``Unreachable`` without an answer.
        """
        try:
            content = cast("Mapping[str, object]", yaml.safe_load(kubeconfig))
            return cls(await Kube.sign_in(content, seconds=REQUEST_SECONDS), namespaces)
        except kr8s.ServerError as error:
            if error.response is not None and error.response.status_code in (401, 403):
                raise SignedOut from None
            raise Unreachable(_unreachable(error)) from None
        except FileNotFoundError as error:
            raise SetUpFailed(
                f"The kubeconfig signs in with {error.filename or 'gke-gcloud-auth-plugin'}, which is not on PATH.\n"
                "Fix: gcloud components install gke-gcloud-auth-plugin"
            ) from None
        except (*Unanswered, httpx.HTTPError, RuntimeError) as error:
            raise Unreachable(_unreachable(error)) from None

    async def snapshot(self) -> Snapshot:
        """Lists all kinds at once. Raises ``Unreachable`` if nothing can be read, and ``SignedOut`` if the token has
        expired.
        """
        snapshot = Snapshot(now=datetime.now(UTC))
        lists = await asyncio.gather(*(self._list(snapshot, *kind) for kind in KINDS))
        if len(snapshot.unreadable) == len(KINDS):
            raise Unreachable(_unreachable(next(iter(snapshot.unreadable.values()))))
        for (kind, *_), objects in zip(KINDS, lists, strict=True):
            setattr(snapshot, kind, objects)
        waiting = [pod for pod in snapshot.pods if _is_starting(pod)]
        texts = await asyncio.gather(*(self._log(pod) for pod in waiting))
        snapshot.logs = {(namespace(pod), name(pod)): log for pod, log in zip(waiting, texts, strict=True)}
        return snapshot

    async def _list(self, snapshot: Snapshot, kind: str, version: str, resource: str, ours: bool) -> list[Object]:
        namespaces = self._namespaces if ours else [None]
        parts = await asyncio.gather(
            *(self._get(version, resource, namespace) for namespace in namespaces), return_exceptions=True
        )
        objects: list[Object] = []
        for part in parts:  # an error in one namespace does not hide the others
            if isinstance(part, ListRefused):
                reason = snapshot.unreadable.get(kind, "")
                # A missing permission is a better explanation than a missing kind.
                snapshot.unreadable[kind] = str(part) if not reason or reason == unknown(resource) else reason
            elif isinstance(part, (*Unanswered, httpx.HTTPError)):
                snapshot.unreadable.setdefault(kind, f"{resource} cannot be read: {str(part) or type(part).__name__}")
            elif isinstance(part, BaseException):
                raise part
            else:
                objects += part
        return objects

    async def _get(self, version: str, resource: str, namespace: str | None) -> Sequence[Object]:
        url = Resource(version, resource).url(namespace)
        try:
            answer = await self._kube.request("GET", url, params={"limit": "2000"})
        except KubeError as error:
            if error.code == 404:
                raise ListRefused(unknown(resource)) from None
            if error.code == 401:
                raise SignedOut from None
            raise ListRefused(f"{resource} cannot be read: {error.code} {short(str(error), 160)}") from None
        return cast("Sequence[Object]", answer.get("items") or [])

    async def _log(self, pod: Object) -> str:
        url = PODS.url(namespace(pod), name(pod), "log")
        try:
            async with self._kube.open("GET", url, params={"container": "main", "limitBytes": str(LOG_BYTES)}) as log:
                return log.text
        except (KubeError, *Unanswered, httpx.HTTPError):
            return ""


def unknown(resource: str) -> str:
    """The message for a kind that the API server does not have."""
    return f"the cluster does not have the resource type {resource}"


def _is_starting(pod: Object) -> bool:
    return label(pod, kserve.OWN_COMPONENT) == kserve.WORKLOAD and stages.position(pod).stage is stages.SERVER


def _unreachable(error: object) -> str:
    return (
        f"The cluster's API does not answer: {str(error) or type(error).__name__}\n"
        "Fix: check the network; a private endpoint is reachable only from its VPC and from authorized networks "
        "(cluster.authorizedNetworks, docs/security.md)"
    )
