"""The identity of Google's collectors: their namespace and account, and Secrets that are read with its rights."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path

from llmd_common.kubernetes.client import NAMESPACES, SECRETS, SERVICE_ACCOUNTS, Kube, KubeError
from llmd_common.kubernetes.fields import Object, get, text
from localcloud.monitoring.network_policies import Caller
from localcloud.monitoring.targets import SecretKey
from localcloud.product import monitoring

MANAGER = "gke-managed-prometheus"
NAMESPACE, ACCOUNT = monitoring.COLLECTOR_NAMESPACE, monitoring.COLLECTOR_ACCOUNT
IDENTITY = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
CALLER = Caller(
    NAMESPACE,
    {"app": "managed-prometheus-collector", "app.kubernetes.io/name": "collector"},
    {"kubernetes.io/metadata.name": NAMESPACE},
)
"""Labels: prometheus-engine ``manifests/operator.yaml`` @2ffde4ec, DaemonSet ``collector``."""

TOKEN_SECONDS = 3600
RENEW_SECONDS = TOKEN_SECONDS / 2


class UnreadableSecret(Exception):
    """A token that the collectors cannot read; the message contains the reason."""


async def install(kube: Kube) -> None:
    """Creates namespace and account, as GKE does with managed Prometheus. By default the account may read no Secret."""
    await kube.apply(
        NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, manager=MANAGER
    )
    account: Object = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": ACCOUNT, "namespace": NAMESPACE},
    }
    await kube.apply(SERVICE_ACCOUNTS, account, manager=MANAGER)


async def sign_in(kube: Kube, authority: Path, server: str) -> Kube:
    """A client with a token of the account, so that missing permissions have an effect. Raises as :class:`Kube`
    does.
    """
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
    url = SERVICE_ACCOUNTS.url(NAMESPACE, ACCOUNT, "token")
    answer = await kube.request("POST", url, body={**asked, "spec": {"expirationSeconds": TOKEN_SECONDS}})
    return await Kube.sign_in(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "laptop", "cluster": {"server": server, "certificate-authority": str(authority)}}],
            "contexts": [{"name": "laptop", "context": {"cluster": "laptop", "user": ACCOUNT}}],
            "current-context": "laptop",
            "users": [{"name": ACCOUNT, "user": {"token": text(answer, "status", "token")}}],
        }
    )


async def read(as_collector: Kube, key: SecretKey) -> str:
    """The value of a Secret's key. Raises :class:`UnreadableSecret`.

    Collectors follow the one Secret: they list and watch it by name (prometheus-engine's fork of Prometheus,
    ``secrets/kubernetes/watch.go``), so both rights are needed.
    """
    where = f"Secret {key.namespace}/{key.name}"
    try:
        secrets = await as_collector.list(SECRETS, key.namespace, fields=f"metadata.name={key.name}")
        if not await _may_watch(as_collector, key):
            raise UnreadableSecret(f"{where}: {IDENTITY} may not watch it")
    except KubeError as error:
        raise UnreadableSecret(f"{where}: {error}") from None
    if not secrets:
        raise UnreadableSecret(f"{where} does not exist")
    encoded = text(secrets[0], "data", key.key)
    if not encoded:
        raise UnreadableSecret(f"{where} has no key {key.key}")
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise UnreadableSecret(f"{where}: key {key.key} is not text") from None


async def _may_watch(as_collector: Kube, key: SecretKey) -> bool:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {
            "resourceAttributes": {
                "namespace": key.namespace,
                "verb": "watch",
                "resource": "secrets",
                "name": key.name,
            }
        },
    }
    answer = await as_collector.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=review)
    return get(answer, "status", "allowed") is True
