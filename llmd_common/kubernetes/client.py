"""Kubernetes for this project's daemons and commands: objects as plain data.

Transport, certificates and kubeconfig are kr8s'. This module adds status codes as classes and server-side apply;
:mod:`llmd_common.kubernetes.watch` adds a view of a kind that stays current.
"""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

import httpx
import kr8s.asyncio
import tenacity

from llmd_common.kubernetes.fields import Object, key
from llmd_common.problems import SetUpFailed

REQUEST_SECONDS = 30.0


@dataclass(frozen=True)
class Resource:
    """API version and plural of a kind: ``Resource("apps/v1", "deployments")``."""

    group_version: str
    plural: str
    namespaced: bool = True

    def url(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """The path below the server, from ``/api`` or ``/apis`` on."""
        parts = ["/api" if self.group_version == "v1" else "/apis", self.group_version]
        if namespace and self.namespaced:
            parts += ["namespaces", namespace]
        parts += [self.plural, *([name] if name else []), *([subresource] if subresource else [])]
        return "/".join(parts)


NAMESPACES = Resource("v1", "namespaces", namespaced=False)
NODES = Resource("v1", "nodes", namespaced=False)
PODS = Resource("v1", "pods")
SERVICES = Resource("v1", "services")
SECRETS = Resource("v1", "secrets")
CONFIG_MAPS = Resource("v1", "configmaps")
SERVICE_ACCOUNTS = Resource("v1", "serviceaccounts")
EVENTS = Resource("v1", "events")
ENDPOINT_SLICES = Resource("discovery.k8s.io/v1", "endpointslices")
LEASES = Resource("coordination.k8s.io/v1", "leases")


class KubeError(Exception):
    """The server rejected a request. ``code`` is the HTTP status, ``reason`` that of the Status object (``NotFound``
    …).
    """

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason


class NotFound(KubeError):
    """The object does not exist, or its kind is not served (404)."""


class Conflict(KubeError):
    """The object was changed by another client, or exists already (409)."""


class Gone(KubeError):
    """The resource version to watch from is too old (410)."""


Unreachable = (httpx.TransportError, kr8s.APITimeoutError, kr8s.ServerError)
"""Errors without an answer of the server: another attempt may succeed."""


def _refusal(response: httpx.Response) -> KubeError:
    try:
        status = cast(Object, response.json())
    except ValueError:
        status = {}
    message = str(status.get("message") or response.text[:300] or response.reason_phrase)
    kind = {404: NotFound, 409: Conflict, 410: Gone}.get(response.status_code, KubeError)
    return kind(response.status_code, str(status.get("reason") or ""), message)


class _Api(Protocol):
    """The one method of kr8s that we use, typed: kr8s does not type its keyword arguments."""

    def call_api(self, method: str, **options: object) -> contextlib.AbstractAsyncContextManager[httpx.Response]: ...


class Kube:
    """One API server. Make it with :meth:`connect`, :meth:`sign_in` or :func:`from_home`.

    ``seconds``: time limit of one request.
    """

    def __init__(self, api: _Api, seconds: float = REQUEST_SECONDS) -> None:
        self._api = api
        self._seconds = seconds

    @classmethod
    async def sign_in(cls, kubeconfig: Path | Mapping[str, object], *, seconds: float = REQUEST_SECONDS) -> Kube:
        """Connects as the current user of a kubeconfig, a file or its content; one attempt.

        Raises one of :data:`Unreachable`, whose ``response`` has the status of a rejection; ``FileNotFoundError``
        without the file or the credential plugin; ``ValueError`` for a file that is not a complete kubeconfig.
        """
        with warnings.catch_warnings():
            # kr8s warns about servers newer than those it was tested with; only core paths are used here.
            warnings.filterwarnings("ignore", message=".*is not supported. Supported versions for kr8s.*")
            # kr8s also accepts a mapping, according to its documentation, but not to its types.
            given = str(kubeconfig) if isinstance(kubeconfig, Path) else cast(str, kubeconfig)
            return cls(cast(_Api, await kr8s.asyncio.api(kubeconfig=given)), seconds)

    @classmethod
    async def connect(cls, kubeconfig: Path, *, patience_seconds: float = 60) -> Kube:
        """Connects as the kubeconfig's current user; waits up to ``patience_seconds`` for the file and the server.

        Raises ``SetUpFailed`` if the server does not answer in time.
        """
        transient = (*Unreachable, ValueError, FileNotFoundError)
        try:
            return await tenacity.AsyncRetrying(
                stop=tenacity.stop_after_delay(patience_seconds),
                wait=tenacity.wait_fixed(0.3),
                retry=tenacity.retry_if_exception_type(transient),
                reraise=True,
            )(cls.sign_in, kubeconfig)
        except transient as error:
            raise SetUpFailed(
                f"The API server of {kubeconfig} does not answer: {error or type(error).__name__}.\n"
                f"Its log is {kubeconfig.parent / 'logs' / 'kube-apiserver.log'}.\n"
                "Fix: correct the cause named there, then make up CLOUD=laptop."
            ) from None

    @contextlib.asynccontextmanager
    async def open(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
        content_type: str = "application/json",
        stream: bool = False,
        read_seconds: float | None = None,
    ) -> AsyncGenerator[httpx.Response, None]:
        """A request for a path such as ``/api/v1/pods``; raises :class:`KubeError` or one of :data:`Unreachable`."""
        prefix, _, rest = url.lstrip("/").partition("/")
        # `raise_for_status` off: kr8s would make a new session on every 403, and end all watches of the old one.
        async with self._api.call_api(
            method,
            version="",
            base=f"/{prefix}",
            url=rest,
            raise_for_status=False,
            stream=stream,
            params=dict(params or {}),
            content=None if body is None else json.dumps(body),
            headers={"Content-Type": content_type},
            timeout=httpx.Timeout(self._seconds, read=read_seconds or self._seconds),
        ) as response:
            if response.is_error:
                await response.aread()
                raise _refusal(response)
            yield response

    async def request(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
        content_type: str = "application/json",
    ) -> Object:
        """The object in the answer; empty if there is none."""
        async with self.open(method, url, params=params, body=body, content_type=content_type) as response:
            return cast(Object, response.json()) if response.content else {}

    async def get(self, resource: Resource, name: str, namespace: str | None = None) -> Object:
        """One object; raises :class:`NotFound`."""
        return await self.request("GET", resource.url(namespace, name))

    async def list(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        labels: str | None = None,
        fields: str | None = None,
    ) -> list[Object]:
        """All objects, of one namespace or of all, by label and field selectors (``a=b,c!=d``)."""
        return (await self.listing(resource, namespace, labels, fields))[0]

    async def create(self, resource: Resource, obj: Object, namespace: str | None = None) -> Object:
        """Creates an object; raises :class:`Conflict` if it exists."""
        return await self.request("POST", resource.url(namespace or key(obj)[0]), body=obj)

    async def replace(self, resource: Resource, obj: Object, *, subresource: str | None = None) -> Object:
        """Writes the whole object; raises :class:`Conflict` if it has changed since it was read."""
        return await self.request("PUT", resource.url(*key(obj), subresource), body=obj)

    async def apply(
        self, resource: Resource, obj: Object, *, manager: str, force: bool = True, subresource: str | None = None
    ) -> Object:
        """Server-side apply under that field manager; fields it left out since the last time are removed."""
        return await self.request(
            "PATCH",
            resource.url(*key(obj), subresource),
            params={"fieldManager": manager, "force": str(force).lower()},
            body=obj,
            content_type="application/apply-patch+yaml",
        )

    async def patch(
        self,
        resource: Resource,
        name: str,
        patch: Object,
        namespace: str | None = None,
        *,
        subresource: str | None = None,
        strategic: bool = False,
    ) -> Object:
        """A merge patch (lists whole, ``None`` removes), or a strategic one (built-in kinds; lists merge by key)."""
        kind = "strategic-merge-patch" if strategic else "merge-patch"
        url = resource.url(namespace, name, subresource)
        return await self.request("PATCH", url, body=patch, content_type=f"application/{kind}+json")

    async def patch_status(
        self,
        resource: Resource,
        name: str,
        status: Object,
        namespace: str | None = None,
        *,
        strategic: bool = False,
        version: str = "",
    ) -> Object:
        """:meth:`patch` of the status alone; with ``version``, raises :class:`Conflict` if it has another one."""
        patch: Object = {"status": status, **({"metadata": {"resourceVersion": version}} if version else {})}
        return await self.patch(resource, name, patch, namespace, subresource="status", strategic=strategic)

    async def delete(
        self,
        resource: Resource,
        name: str,
        namespace: str | None = None,
        *,
        grace_seconds: int | None = None,
        uid: str | None = None,
    ) -> bool:
        """Deletes an object; with ``uid``, not a successor of the same name. Returns ``False`` if there was nothing to
        delete.
        """
        options: Object = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        if uid:
            options["preconditions"] = {"uid": uid}
        try:
            await self.request("DELETE", resource.url(namespace, name), body=options)
        except NotFound:
            return False
        except Conflict:
            if uid:
                return False
            raise
        return True

    async def listing(
        self, resource: Resource, namespace: str | None, labels: str | None, fields: str | None
    ) -> tuple[list[Object], str]:
        """As :meth:`list`, with the resource version to watch from."""
        answer = await self.request("GET", resource.url(namespace), params=selectors(labels, fields))
        items = cast("list[Object]", answer.get("items") or [])
        kind = str(answer.get("kind", "")).removesuffix("List")
        for item in items:
            # The items of a list lack them.
            item.setdefault("apiVersion", answer.get("apiVersion"))
            item.setdefault("kind", kind)
        return items, str(answer["metadata"]["resourceVersion"])


def selectors(labels: str | None, fields: str | None) -> dict[str, str]:
    """Query parameters of label and field selectors."""
    return {**({"labelSelector": labels} if labels else {}), **({"fieldSelector": fields} if fields else {})}


async def from_home(home: Path, *, patience_seconds: float = 60) -> Kube:
    """The API server of the laptop cloud in that folder, as its administrator."""
    return await Kube.connect(home / "cluster" / "kubeconfig", patience_seconds=patience_seconds)
