"""Parts of PromQL expressions that alerts and the dashboard share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from llmd_gke.catalog import kserve
from llmd_gke.catalog.accelerators import ChipMetrics
from llmd_gke.catalog.metrics import EXTERNAL_LB, INTERNAL_LB, NODE, Google, KubeState
from llmd_gke.manifests import naming
from llmd_gke.settings import StackSettings

SHORTEST_WINDOW_SECONDS = 300
SCRAPES_IN_WINDOW = 4
"""Scrapes in the window of a rate, which needs two samples: four tolerate failed scrapes."""

BY_MODEL = "by (namespace, model)"
"""Grouping by model. ``model`` is its name in the settings (:mod:`.scraping`), ``model_name`` the one clients send."""


def rate_window(interval_seconds: int) -> str:
    """The range of a ``rate``, such as ``5m``: 5 minutes, or more if the scrape interval is long."""
    seconds = max(SHORTEST_WINDOW_SECONDS, SCRAPES_IN_WINDOW * interval_seconds)
    return f"{seconds // 60}m" if seconds % 60 == 0 else f"{seconds}s"


def one_of(label: str, values: Iterable[str]) -> str:
    """A matcher for a label with one of these values, none of which may contain regular expressions' characters."""
    listed = sorted(set(values))
    return f'{label}="{listed[0]}"' if len(listed) == 1 else f'{label}=~"{"|".join(listed)}"'


def none_of(label: str, values: Iterable[str]) -> str:
    """A matcher for a label that has none of these values, as :func:`one_of`."""
    name, _, value = one_of(label, values).partition("=")
    return f"{name}!={value}" if not value.startswith("~") else f"{name}!{value}"


def pods(settings: StackSettings, *more: str) -> str:
    """The selector of metrics scraped from pods, and of kube state metrics, in this cluster's model namespaces.

    All clusters of a project share one store, so that ``cluster`` must be in every selector.
    """
    return pods_in(settings, settings.namespaces, *more)


def pods_in(settings: StackSettings, namespaces: Iterable[str], *more: str) -> str:
    """As :func:`pods`, for some of the namespaces."""
    return _selector(f'cluster="{settings.cluster.gke_name}"', one_of("namespace", namespaces), *more)


def resource(settings: StackSettings, kind: str, *more: str) -> str:
    """The selector of GKE's own metrics of this cluster, for a kind of monitored resource."""
    return _selector(f'monitored_resource="{kind}"', f'cluster_name="{settings.cluster.gke_name}"', *more)


def chips(settings: StackSettings, metrics: ChipMetrics) -> str:
    """The selector of metrics of chips: GKE's own, or those that one of its components exports for Prometheus."""
    return (
        resource(settings, NODE) if metrics.component is None else _selector(f'cluster="{settings.cluster.gke_name}"')
    )


@dataclass(frozen=True)
class EdgeMetrics:
    """What a Gateway's data plane counts: ``requests`` and the histogram ``milliseconds``, with their ``labels``.
    ``code`` is the label of an answer's status or class, ``failed`` the matcher of 5xx, ``not_refused`` of all but 4xx.
    """

    requests: str
    milliseconds: str
    labels: tuple[str, ...]
    code: str
    failed: str
    not_refused: str

    def selector(self, *more: str) -> str:
        """The selector of both metrics."""
        return _selector(*self.labels, *more)


def edge(settings: StackSettings) -> EdgeMetrics:
    """The metrics of a Gateway's proxies, or of Google's load balancer, by network and region: no cluster is named."""
    if proxies := settings.gateway.proxies:
        labels = (f'cluster="{settings.cluster.gke_name}"', f'namespace="{naming.GATEWAY_NAMESPACE}"')
        code = proxies.code
        return EdgeMetrics(proxies.requests, proxies.milliseconds, labels, code, f'{code}=~"5.."', f'{code}!~"4.."')
    external = settings.gateway.exposure == "external"
    existing = settings.network.existing
    labels = (
        f'monitored_resource="{EXTERNAL_LB if external else INTERNAL_LB}"',
        f'network_name="{settings.cluster.name if existing is None else existing.network}"',
        f'region="{settings.cluster.region}"',
    )
    return EdgeMetrics(
        Google.EXTERNAL_REQUESTS if external else Google.INTERNAL_REQUESTS,
        Google.EXTERNAL_MILLISECONDS if external else Google.INTERNAL_MILLISECONDS,
        labels,
        "response_code_class",
        'response_code_class="500"',
        'response_code_class!="400"',
    )


def unless_asleep(settings: StackSettings, label: str = "model", value: str = "$1") -> str:
    """The end of an expression that leaves out models without servers by their schedule or for lack of requests; empty
    without any.

    ``label`` and ``namespace`` identify a model in the expression; ``value`` makes it of the model's name, ``$1``.
    """
    names = [model.name for model in settings.autoscaled if model.scales_to_zero]
    if not names:
        return ""
    wanted = f"{KubeState.DEPLOYMENT_WANTED}{pods(settings, one_of('deployment', map(kserve.deployment, names)))}"
    return (
        f" unless on (namespace, {label}) label_replace(max by (namespace, deployment) ({wanted}) == 0, "
        f'"{label}", "{value}", "deployment", "(.*){kserve.DEPLOYMENT_SUFFIX}")'
    )


def _selector(*matchers: str) -> str:
    return "{" + ",".join(matchers) + "}"


def quantile(share: float, histogram: str, selector: str, by: str, window: str) -> str:
    """A quantile of a histogram over ``window``; ``by`` are the labels that remain, such as ``namespace, model``."""
    return f"histogram_quantile({share:g}, sum by (le, {by}) (rate({histogram}_bucket{selector}[{window}])))"
