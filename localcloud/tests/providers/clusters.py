"""A cluster at Google's emulator, as the stand-in for Kubernetes finds it."""

from __future__ import annotations

import json
from pathlib import Path

from localcloud.tests.google_api.conftest import CLUSTER, COMPUTE, GKE, VPC, Client


def google_in(folder: Path) -> Client:
    """Google in the folder of a cloud, with every API."""
    client = Client(folder)
    client.faults({"fault": "world", "enabledApis": ["*"]})
    return client


def cluster_in(google: Client) -> str:
    """Makes a cluster with the Gateway API, and its network. Returns its endpoint."""
    google.ok("POST", f"{COMPUTE}/global/networks", {"name": "vpc"})
    subnet = {"name": "nodes", "network": VPC, "ipCidrRange": "10.0.0.0/20"}
    google.ok("POST", f"{COMPUTE}/regions/us-east5/subnetworks", subnet)
    channel = {"networkConfig": {"gatewayApiConfig": {"channel": "CHANNEL_STANDARD"}}}
    google.ok("POST", f"{GKE}/clusters", {"cluster": {**CLUSTER, "ipAllocationPolicy": {}, **channel}})
    return google.ok("GET", f"{GKE}/clusters/gke")["endpoint"]


def kubeconfig(endpoint: str) -> str:
    """A kubeconfig as the program writes it."""
    return json.dumps(
        {
            "clusters": [{"name": "c", "cluster": {"server": f"https://{endpoint}"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
            "users": [{"name": "u", "user": {"exec": {"command": "gke-gcloud-auth-plugin"}}}],
        }
    )
