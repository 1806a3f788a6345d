"""From PodMonitorings and pods to targets, as Google's collectors find them.

Source: GoogleCloudPlatform/prometheus-engine ``pkg/operator/apis/monitoring/v1/pod_config.go`` @01e7efc8. There it is
written as relabeling of what Prometheus discovers; here the same rules are applied to the pods themselves, so that a
target that the NetworkPolicies keep out can be left out with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from llmd_common.kubernetes.fields import Object, each, get, key, label, labels, name, namespace, part, text, texts
from localcloud.gke_gateway.resources.objects import label_selector_matches
from localcloud.monitoring.network_policies import Caller, declared_ports, refusal

DEFAULT_METADATA = ("container", "pod", "top_level_controller_name", "top_level_controller_type")
"""Default of ``targetLabels.metadata`` in the CRD."""


@dataclass(frozen=True)
class Where:
    """The labels that every series of a cluster has."""

    project_id: str
    location: str
    cluster: str

    @property
    def labels(self) -> dict[str, str]:
        """The labels by their names in Prometheus."""
        return {"project_id": self.project_id, "location": self.location, "cluster": self.cluster}


@dataclass(frozen=True)
class SecretKey:
    """A key of a Secret that a scrape sends as its token."""

    namespace: str
    name: str
    key: str


@dataclass(frozen=True)
class ScrapeTarget:
    """An address with the labels of its series. ``refused``: why it is not scraped; empty if it is."""

    address: str
    labels: Mapping[str, str]
    refused: str = ""


@dataclass(frozen=True)
class ScrapeEndpoint:
    """One endpoint of a PodMonitoring with its targets. ``interval`` and ``timeout`` are Prometheus' durations."""

    job: str
    path: str
    scheme: str
    interval: str
    timeout: str
    targets: tuple[ScrapeTarget, ...]
    token: SecretKey | None = None
    token_type: str = "Bearer"  # noqa: S105 - the scheme before the token


def endpoints(
    monitorings: Iterable[Object], pods: Iterable[Object], policies: Iterable[Object], caller: Caller, where: Where
) -> list[ScrapeEndpoint]:
    """Every endpoint of every PodMonitoring, in the order of their names."""
    all_pods, all_policies = sorted(pods, key=key), list(policies)
    return [
        _endpoint(monitoring, endpoint, all_pods, policies=all_policies, caller=caller, where=where)
        for monitoring in sorted(monitorings, key=key)
        for endpoint in each(monitoring, "spec", "endpoints")
    ]


def _endpoint(
    monitoring: Object, endpoint: Object, pods: list[Object], *, policies: list[Object], caller: Caller, where: Where
) -> ScrapeEndpoint:
    wanted = [pod for pod in pods if _is_selected(monitoring, pod)]
    port, interval = text(endpoint, "port"), text(endpoint, "interval")
    return ScrapeEndpoint(
        job=f"PodMonitoring/{namespace(monitoring)}/{name(monitoring)}/{port}",
        path=text(endpoint, "path") or "/metrics",
        scheme=text(endpoint, "scheme") or "http",
        interval=interval,
        timeout=text(endpoint, "timeout") or interval,
        targets=tuple(
            ScrapeTarget(
                f"{text(pod, 'status', 'podIP')}:{number}", target_labels, refusal(policies, pod, number, caller)
            )
            for pod in wanted
            for number, target_labels in _addresses(monitoring, endpoint, pod, where)
        ),
        token=_token(endpoint, namespace(monitoring)),
        token_type=text(endpoint, "authorization", "type") or "Bearer",
    )


def _is_selected(monitoring: Object, pod: Object) -> bool:
    ended = get(monitoring, "spec", "filterRunning") is not False and text(pod, "status", "phase") in (
        "Failed",
        "Succeeded",
    )
    return (
        namespace(pod) == namespace(monitoring)
        and bool(text(pod, "status", "podIP"))
        and not ended
        and label_selector_matches(part(monitoring, "spec", "selector"), labels(pod))
    )


def _addresses(monitoring: Object, endpoint: Object, pod: Object, where: Where) -> Iterable[tuple[int, dict[str, str]]]:
    """Port numbers with labels: one for a number, also one that is not declared; each declared port for a name."""
    asked = get(endpoint, "port")
    target_labels = _labels(monitoring, pod, where)
    instance = text(pod, "spec", "nodeName") if _controller(pod)[0] == "DaemonSet" else name(pod)
    if isinstance(asked, str):
        for port in declared_ports(pod):
            if port.name == asked:
                container = {"container": port.container} if "container" in _metadata(monitoring) else {}
                yield port.number, _without_empty({**target_labels, **container, "instance": f"{instance}:{asked}"})
    elif isinstance(asked, int):
        # The container is left out: several could declare the number.
        yield asked, _without_empty({**target_labels, "instance": f"{instance}:{asked}"})


def _labels(monitoring: Object, pod: Object, where: Where) -> dict[str, str]:
    kind, owner = _top_level_controller(pod)
    metadata = {
        "pod": name(pod),
        "node": text(pod, "spec", "nodeName"),
        "top_level_controller_name": owner,
        "top_level_controller_type": kind,
    }
    asked = _metadata(monitoring)
    target_labels = {
        **where.labels,
        **{key: value for key, value in metadata.items() if key in asked},
        "namespace": namespace(pod),
        "job": name(monitoring),
    }
    for mapping in each(monitoring, "spec", "targetLabels", "fromPod"):
        target_labels[text(mapping, "to") or text(mapping, "from")] = label(pod, text(mapping, "from"))
    return target_labels


def _metadata(monitoring: Object) -> tuple[str, ...]:
    given = get(monitoring, "spec", "targetLabels", "metadata")
    return DEFAULT_METADATA if given is None else tuple(texts(monitoring, "spec", "targetLabels", "metadata"))


def _controller(pod: Object) -> tuple[str, str]:
    for owner in each(pod, "metadata", "ownerReferences"):
        if get(owner, "controller") is True:
            return text(owner, "kind"), text(owner, "name")
    return "", ""


def _top_level_controller(pod: Object) -> tuple[str, str]:
    kind, owner = _controller(pod)
    if kind == "ReplicaSet" and label(pod, "pod-template-hash"):
        return "Deployment", owner.rpartition("-")[0]
    if kind == "Job" and (match := re.fullmatch(r"(.+)-\d{8}", owner)):
        return "CronJob", match[1]
    return kind, owner


def _token(endpoint: Object, own_namespace: str) -> SecretKey | None:
    secret = part(endpoint, "authorization", "credentials", "secret")
    if not secret:
        return None
    return SecretKey(text(secret, "namespace") or own_namespace, text(secret, "name"), text(secret, "key"))


def _without_empty(target_labels: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in target_labels.items() if value}
