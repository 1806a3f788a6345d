"""How clients reach the cluster."""

from __future__ import annotations

import json

from llmd_gke.json_types import JsonObject

PLUGIN = "gke-gcloud-auth-plugin"


def plugin_arguments(impersonate: str | None) -> list[str]:
    """Flags of the exec plugin; ``impersonate`` is the e-mail address of a service account.

    Without flags the plugin signs in as gcloud's active account. The application default credentials that the Google
    provider uses do not count for it (kubernetes/cloud-provider-gcp ``cmd/gke-gcloud-auth-plugin/cred.go`` @0a5be104).
    """
    return [f"--impersonate_service_account={impersonate}"] if impersonate else []


def kubeconfig(cluster: str, host: str, certificate_authority: str | None, impersonate: str | None = None) -> str:
    """A kubeconfig as JSON, without a token: the exec plugin asks Google for one when it is needed.

    ``host`` is the control plane's DNS name or IP address. ``certificate_authority`` is base64 PEM for the IP
    endpoint; the DNS endpoint has a public certificate and takes ``None``. ``impersonate`` is the service account that
    the Google provider impersonates, so that both halves of an update are the same caller.
    """
    server: JsonObject = {"server": f"https://{host}"}
    if certificate_authority is not None:
        server["certificate-authority-data"] = certificate_authority
    plugin: JsonObject = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": PLUGIN,
        "installHint": "install it with `gcloud components install gke-gcloud-auth-plugin`",
        "interactiveMode": "Never",
        "provideClusterInfo": True,
    }
    if arguments := plugin_arguments(impersonate):
        plugin["args"] = [*arguments]
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
