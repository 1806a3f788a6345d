"""Names of Services and of pods behind headless ones, as the cluster's DNS answers them.

After https://github.com/kubernetes/dns/blob/master/docs/specification.md: ``SERVICE.NAMESPACE.svc.cluster.local`` is
the ClusterIP, or the endpoints of a headless Service, ``HOSTNAME.SERVICE.NAMESPACE.svc.cluster.local`` one of those.
Google's names that the laptop cloud serves resolve, too. No other name exists: there is no network behind this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from llmd_common.kubernetes.fields import Object, each, part, text, texts
from localcloud.linux_namespaces.addresses import GOOGLE_NAMES
from localcloud.service_network.routing_table import SERVICE_NAME

ADDRESS = "10.96.0.10"
"""Address of the DNS server, as in clusters made by kubeadm; the API server assigns no address this low by itself."""
DOMAIN = "cluster.local"
Names = Mapping[str, tuple[str, ...]]


def names(services: Iterable[Object], slices: Iterable[Object]) -> dict[str, tuple[str, ...]]:
    """Full names, in lower case and without the last dot, and their addresses."""
    records: dict[str, set[str]] = {name: {address} for name, address in GOOGLE_NAMES.items()}
    headless: set[tuple[str, str]] = set()
    for service in services:
        name, namespace = str(service["metadata"]["name"]), str(service["metadata"]["namespace"])
        addresses = [ip for ip in texts(service, "spec", "clusterIPs") if ":" not in ip]
        if addresses == ["None"]:
            headless.add((namespace, name))
            addresses = []
        records[f"{name}.{namespace}.svc.{DOMAIN}"] = set(addresses)
    for one in slices:
        meta = one["metadata"]
        key = (str(meta["namespace"]), text(meta, "labels", SERVICE_NAME))
        if key not in headless or text(one, "addressType") not in ("", "IPv4"):
            continue
        service_name = f"{key[1]}.{key[0]}.svc.{DOMAIN}"
        for endpoint in each(one, "endpoints"):
            if part(endpoint, "conditions").get("ready") is False:
                continue
            pod_addresses = texts(endpoint, "addresses")
            records[service_name].update(pod_addresses)
            if host := text(endpoint, "hostname"):
                records.setdefault(f"{host}.{service_name}", set()).update(pod_addresses)
    return {name.lower(): tuple(sorted(addresses)) for name, addresses in records.items()}
