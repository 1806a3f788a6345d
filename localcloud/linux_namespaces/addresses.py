"""The addresses inside a laptop cloud's network. They exist nowhere else, so all laptop clouds have the same."""

from __future__ import annotations

CONTROL_PLANE = "172.16.0.2"
"""Address of the API server (port 443): the IP endpoint. GKE takes the second address of the control plane's /28
(https://cloud.google.com/kubernetes-engine/docs/concepts/private-cluster-concept)."""

DNS_ENDPOINT = "gke-1a2b3c4d5e6f47d8a9b0c1d2e3f4a5b6c7d8-100000000001.europe-west4.gke.goog"
"""The API server's DNS name, which /etc/hosts inside the namespaces contains
(form: https://cloud.google.com/kubernetes-engine/docs/concepts/network-isolation#dns-based-endpoint)."""

POD_RANGE = "10.244.0.0/16"
SERVICE_RANGE = "10.96.0.0/16"
API_SERVICE = "10.96.0.1"
"""ClusterIP of ``default/kubernetes``: the first of the range."""

METADATA_SERVER = "169.254.169.254"
"""Where pods get tokens of their Google identity
(https://cloud.google.com/compute/docs/metadata/querying-metadata); served where metrics are collected."""
GOOGLE_APIS = "199.36.153.8"
"""The first address of private.googleapis.com (https://cloud.google.com/vpc/docs/configure-private-google-access). Of
all APIs, only the one that queries metrics is served there."""
METRICS_ADAPTER_NAME = "gke-metrics-adapter.kube-system.svc"
"""The name by which the API server reaches the stand-in of GKE's managed adapter of metrics."""
GOOGLE_NAMES = {"metadata.google.internal": METADATA_SERVER, "monitoring.googleapis.com": GOOGLE_APIS}
"""Names outside the cluster that resolve in pods."""

BRIDGE = "cni0"
BRIDGE_ADDRESS = "10.244.0.1"
BRIDGE_PREFIX = 16
"""Prefix length of the bridge to which all pods are attached: they reach each other and the node without routes."""


def hardware_address(address: str) -> str:
    """The MAC address of the interface with that IPv4 address, always the same, as OVN-Kubernetes gives it.

    Neighbours remember it: with a new one they would send to the old one for up to 20 s.
    https://github.com/ovn-kubernetes/ovn-kubernetes/blob/master/go-controller/pkg/util/net.go (``IPAddrToHWAddr``)
    """
    return ":".join(["0a", "58", *(f"{int(part):02x}" for part in address.split("."))])
