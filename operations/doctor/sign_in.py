"""The identity that the Kubernetes half of an update uses, and whether the Google half uses the same one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import httpx

from llmd_common.kubernetes.fields import text
from llmd_gke.manifests import access
from operations.doctor.context import Context
from operations.doctor.google import ENDPOINT, NoAnswer
from operations.doctor.project import LOGIN
from operations.doctor.result import Result, failed, ok, warning
from operations.doctor.tools import ask

CHECK = "Kubernetes sign-in"
REQUEST_SECONDS = 15
IMPERSONATE = "gcp:impersonateServiceAccount"
VARIABLE = "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT"
"""Environment variable that the Google provider reads, but the kubeconfig's plugin does not."""


def sign_in(context: Context) -> Iterator[Result]:
    """The kubeconfig's plugin returns a token, for the same identity as the Google provider's.

    The plugin uses gcloud's active account, not the application default credentials. Without an active account, the
    cluster is created, but every object in it fails.
    """
    if os.environ.get(VARIABLE) and not context.impersonate:
        yield failed(
            CHECK,
            f"{VARIABLE} applies only to the Google half of an update",
            f"unset {VARIABLE}; pulumi config set {IMPERSONATE} ACCOUNT --stack {context.stack}",
        )
        return
    token = _token(ask([access.PLUGIN, *access.plugin_arguments(context.impersonate)]))
    if not token:
        yield failed(
            CHECK,
            f"{access.PLUGIN} returns no token: gcloud is not signed in"
            + (f", or may not impersonate {context.impersonate}" if context.impersonate else ""),
            LOGIN
            if not context.impersonate
            else f"{LOGIN}, and request roles/iam.serviceAccountTokenCreator on {context.impersonate}",
        )
        return
    kubernetes = identity(token)
    google = context.impersonate or identity(str(getattr(context.google.credentials, "token", "")))
    if kubernetes is None or google is None:
        yield warning(CHECK, "there is a token, but Google does not report whose it is", LOGIN)
    elif kubernetes != google:
        yield failed(
            CHECK, f"Kubernetes objects would be created as {kubernetes}, Google's resources as {google}", LOGIN
        )
    else:
        yield ok(CHECK, f"both halves use {google}")


def _token(output: str | None) -> str:
    try:
        return text(json.loads(output or ""), "status", "token")
    except json.JSONDecodeError:
        return ""


def identity(token: str) -> str | None:
    """The e-mail address of a token's owner, otherwise the unique ID; ``None`` if Google reports neither.

    https://developers.google.com/identity/sign-in/web/backend-auth (tokeninfo). The token is in the body, because URLs
    are logged. Raises ``NoAnswer``.
    """
    base = os.environ.get(ENDPOINT)
    url = f"{base}/oauth2.googleapis.com/tokeninfo" if base else "https://oauth2.googleapis.com/tokeninfo"
    try:
        # The environment's proxy is for Google, not for an emulator on this machine.
        answer = httpx.post(url, data={"access_token": token}, timeout=REQUEST_SECONDS, trust_env=not base)
        if not answer.is_success:
            return None
        claims = answer.json()
    except (httpx.TransportError, OSError, ValueError):
        raise NoAnswer(f"oauth2.googleapis.com did not answer within {REQUEST_SECONDS} s") from None
    return text(claims, "email") or text(claims, "sub") or text(claims, "azp") or None
