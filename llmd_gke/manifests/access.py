"""How clients reach the cluster."""

from __future__ import annotations

import json

from llmd_gke.manifests.types import JsonObject


def kubeconfig(cluster: str, host: str, certificate_authority: str | None) -> str:
    """A kubeconfig as JSON, without a token: the exec plugin asks Google for one when it is needed.

    ``host`` is the control plane's DNS name or IP address. ``certificate_authority`` is base64 PEM for the IP
    endpoint; the DNS endpoint has a public certificate and takes ``None``.
    """
    server: JsonObject = {"server": f"https://{host}"}
    if certificate_authority is not None:
        server["certificate-authority-data"] = certificate_authority
    plugin: JsonObject = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "gke-gcloud-auth-plugin",
        "installHint": "install it with `gcloud components install gke-gcloud-auth-plugin`",
        "interactiveMode": "Never",
        "provideClusterInfo": True,
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": cluster, "cluster": server}],
            "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": cluster}}],
            "current-context": cluster,
            "users": [{"name": cluster, "user": {"exec": plugin}}],
        }
    )
