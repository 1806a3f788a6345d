"""``gke-gcloud-auth-plugin`` of the laptop cloud: ``python -m localcloud.cluster.auth_plugin``.

Clients start it because the program's kubeconfig says so, exactly as on Google Cloud, and read a token from its output
(https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins). The token is
read from a file of the laptop cloud that only its owner can read; it is on no command line and in no log. Other servers
get no token.

Not imitated: Google's login, IAM, the plugin's cache and its flags (which are ignored).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from llmd_common.problems import BadInput, Problem, Stale
from localcloud.common.layout import Layout

API = "client.authentication.k8s.io/"
VERSIONS = ("v1beta1", "v1")
INFO = "KUBERNETES_EXEC_INFO"
LIFE = timedelta(hours=1)
"""How long clients keep the token: as long as Google's, so that clients request new ones."""

_FIX = "Fix: run it inside `make shell CLOUD=laptop`."


def answer(environ: Mapping[str, str], now: datetime) -> dict[str, object]:
    """The ExecCredential, in the version that the client requested.

    Raises ``BadInput`` for a malformed request or another server, ``Stale`` if the laptop cloud does not run.
    """
    version, server = _asked(environ)
    home = environ.get("LLMD_GKE_HOME")
    if not home:
        raise BadInput(f"gke-gcloud-auth-plugin of the laptop cloud: LLMD_GKE_HOME is not set.\n{_FIX}")
    layout = Layout(Path(home))
    try:
        facts = cast("dict[str, object]", json.loads(layout.facts.read_text()))
        token = layout.token("user").read_text().strip()
    except (OSError, json.JSONDecodeError) as error:
        raise Stale(
            f"gke-gcloud-auth-plugin: no laptop cloud exists in {home} ({error}).\nFix: make up CLOUD=laptop"
        ) from None
    own = {str(facts[key]) for key in ("endpoint", "dnsEndpoint") if facts.get(key)}
    host = urlsplit(server).hostname or ""
    if server and host not in own:
        raise BadInput(
            f"gke-gcloud-auth-plugin of the laptop cloud: no token for {server}; allowed: {', '.join(sorted(own))}.\n"
            "Fix: use the kubeconfig of `make shell CLOUD=laptop`, or exit that shell to use any other cluster."
        )
    return {
        "apiVersion": version,
        "kind": "ExecCredential",
        "status": {"token": token, "expirationTimestamp": (now + LIFE).strftime("%Y-%m-%dT%H:%M:%SZ")},
    }


def _asked(environ: Mapping[str, str]) -> tuple[str, str]:
    """The version and the server of the client's request; a call by hand has neither."""
    given = environ.get(INFO)
    if not given:
        return f"{API}{VERSIONS[0]}", ""
    try:
        request: object = json.loads(given)
    except json.JSONDecodeError:
        request = None
    asked = cast("dict[str, object]", request) if isinstance(request, dict) else {}
    version = str(asked.get("apiVersion"))
    if version.removeprefix(API) not in VERSIONS:
        allowed = ", ".join(f"{API}{name}" for name in VERSIONS)
        raise BadInput(
            f"gke-gcloud-auth-plugin: {INFO} requests {version!r}; allowed: {allowed}.\n"
            f"Fix: set apiVersion of the kubeconfig's `exec` to {API}{VERSIONS[0]}."
        )
    cluster = cast("dict[str, dict[str, object]]", asked.get("spec") or {}).get("cluster") or {}
    return version, str(cluster.get("server") or "")


def main() -> int:
    """Prints the credential; an expected failure prints one message and returns its status."""
    try:
        print(json.dumps(answer(os.environ, datetime.now(UTC))))
    except Problem as problem:
        print(problem, file=sys.stderr)
        return problem.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
