"""The questions that logs answer, as queries in the Logging query language.

Language: https://cloud.google.com/logging/docs/view/logging-query-language. Cloud Logging can keep queries
(``savedQueries``, ``gcp.logging.SavedQuery``); the program creates none, since they would need one more Google resource
in both local clouds, and a link serves the same purpose.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from llmd_gke.catalog.metrics import EXTERNAL_LB, INTERNAL_LB
from llmd_gke.manifests import gateway, naming
from llmd_gke.settings import StackSettings

CONSOLE = "https://console.cloud.google.com/logs/query"
SLOW = "30s"
"""Duration from which requests count as slow: GKE's default limit, at which it would abort them."""

EVENTS = "https://cloud.google.com/kubernetes-engine/docs/troubleshooting/troubleshoot-pod-scheduling"
AUTOSCALER = "https://cloud.google.com/kubernetes-engine/docs/how-to/cluster-autoscaler-visibility"
CONTAINERS = "https://cloud.google.com/kubernetes-engine/docs/concepts/about-logs"
EXTERNAL_LOGS = "https://cloud.google.com/load-balancing/docs/https/https-reg-logging-monitoring"
INTERNAL_LOGS = "https://cloud.google.com/load-balancing/docs/l7-internal/monitoring"
AUDIT = "https://cloud.google.com/kubernetes-engine/docs/how-to/audit-logging"


@dataclass(frozen=True)
class LogQuery:
    """A query: ``filter`` answers ``question``; ``reading`` explains how to read the entries."""

    key: str
    question: str
    filter: str
    reading: str
    source: str


def queries(settings: StackSettings) -> tuple[LogQuery, ...]:
    """The queries of a stack: each finds entries of its own cluster or network only."""
    status, why, slow = "httpRequest.status", "jsonPayload.proxyStatus", f'httpRequest.latency>"{SLOW}"'
    if proxies := settings.gateway.proxies:
        status, why, slow = proxies.status, proxies.why, proxies.slow
    return (
        LogQuery(
            "ended",
            "Why did a server end, or start again?",
            _lines(
                *_containers(settings, "main"),
                # Output of a container to standard error has severity ERROR, and vLLM writes everything there.
                'textPayload=~"(?i)(error|traceback|unrecognized arguments|out of memory|resource_exhausted)"',
            ),
            "The first line of a burst is the cause, the last the consequence. docs/troubleshooting.md lists the "
            "usual ones.",
            CONTAINERS,
        ),
        LogQuery(
            "download",
            "Is the download of weights stuck?",
            _lines(*_containers(settings, "storage-initializer")),
            "See the last line of the newest pod: 401 or 403 means a gated model without its token, a timeout means "
            "blocked egress.",
            CONTAINERS,
        ),
        LogQuery(
            "unschedulable",
            "Why does a pod wait for a node, or for a volume?",
            _lines(
                'log_id("events")',
                'resource.type="k8s_pod"',
                *_cluster(settings),
                _any("resource.labels.namespace_name", settings.namespaces),
                _any(
                    "jsonPayload.reason", ("FailedScheduling", "NotTriggerScaleUp", "FailedMount", "FailedAttachVolume")
                ),
            ),
            "`jsonPayload.message` says what each node lacks. NotTriggerScaleUp: no pool could help, at any size.",
            EVENTS,
        ),
        LogQuery(
            "no-host",
            "Why was no TPU host added?",
            _lines(
                'log_id("container.googleapis.com/cluster-autoscaler-visibility")',
                'resource.type="k8s_cluster"',
                *_cluster(settings),
                "(jsonPayload.noDecisionStatus.noScaleUp:* OR jsonPayload.resultInfo.results.errorMsg:*)",
            ),
            "`scale.up.error.out.of.resources` is a stock-out, `scale.up.error.quota.exceeded` the quota; "
            "`noScaleUp` names the reason of each pool.",
            AUTOSCALER,
        ),
        LogQuery(
            "failed",
            "Which requests failed at the gateway, and why?",
            _lines(*_edge(settings), f"{status}>=500"),
            f"`{why}` says who gave up: the gateway without a healthy backend, the connection, or the server itself.",
            _edge_page(settings),
        ),
        LogQuery(
            "slow",
            f"Which requests took longer than {SLOW.removesuffix('s')} seconds?",
            _lines(*_edge(settings), slow),
            "Long generations are normal here. Status 504, or many requests of exactly the same duration, indicate a "
            "time limit.",
            _edge_page(settings),
        ),
        LogQuery(
            "changed",
            "Who changed models, routes or policies?",
            _lines(
                'log_id("cloudaudit.googleapis.com/activity")',
                'resource.type="k8s_cluster"',
                *_cluster(settings),
                r'protoPayload.methodName=~"\.(create|update|patch|delete)$"',
                f'protoPayload.resourceName=~"namespaces/({"|".join(_namespaces(settings))})/"',
                'protoPayload.authenticationInfo.principalEmail!~"^system:"',
            ),
            "`principalEmail` is a person or the identity of CI. Controllers, whose names begin with `system:`, are "
            "left out.",
            AUDIT,
        ),
    )


def link(query: LogQuery, settings: StackSettings) -> str:
    """The console's Logs Explorer with the query filled in."""
    return f"{CONSOLE};query={quote(query.filter, safe='')}?project={settings.project}"


def _lines(*parts: str) -> str:
    """Joins conditions by line breaks, which the language reads as AND."""
    return "\n".join(parts)


def _any(field: str, values: Iterable[str]) -> str:
    listed = [f'"{value}"' for value in values]
    return f"{field}={listed[0]}" if len(listed) == 1 else f"{field}=({' OR '.join(listed)})"


def _cluster(settings: StackSettings) -> tuple[str, str]:
    cluster = settings.cluster
    return f'resource.labels.cluster_name="{cluster.gke_name}"', f'resource.labels.location="{cluster.location}"'


def _containers(settings: StackSettings, name: str, *namespaces: str) -> tuple[str, ...]:
    return (
        'resource.type="k8s_container"',
        *_cluster(settings),
        _any("resource.labels.namespace_name", namespaces or settings.namespaces),
        f'resource.labels.container_name="{name}"',
    )


def _edge(settings: StackSettings) -> tuple[str, ...]:
    """Conditions for the entries of the Gateway's own proxies, or of Google's load balancer, which name no cluster:
    GCPBackendPolicies enable their logging.
    """
    if proxies := settings.gateway.proxies:
        return _containers(settings, proxies.container, naming.GATEWAY_NAMESPACE)
    existing = settings.network.existing
    return (
        f'resource.type="{EXTERNAL_LB if settings.gateway.exposure == "external" else INTERNAL_LB}"',
        f'resource.labels.network_name="{settings.cluster.name if existing is None else existing.network}"',
        f'resource.labels.region="{settings.cluster.region}"',
    )


def _edge_page(settings: StackSettings) -> str:
    if proxies := settings.gateway.proxies:
        return proxies.logs
    return EXTERNAL_LOGS if settings.gateway.exposure == "external" else INTERNAL_LOGS


def _namespaces(settings: StackSettings) -> tuple[str, ...]:
    return (*settings.namespaces, str(gateway.place(settings.gateway)["namespace"]))
