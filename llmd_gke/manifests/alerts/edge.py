"""Alerts on what clients reach: the load balancer, the path from outside, the certificate."""

from __future__ import annotations

from llmd_gke.catalog import front_door
from llmd_gke.catalog.metrics import UPTIME, Google
from llmd_gke.manifests import promql
from llmd_gke.manifests.alerts.alert import Alert
from llmd_gke.manifests.alerts.replicas import MINUTE
from llmd_gke.settings import ModelSettings, StackSettings

LOAD_BALANCER = "https://cloud.google.com/load-balancing/docs/metrics"
UPTIME_CHECKS = "https://cloud.google.com/monitoring/uptime-checks/uptime-alerting-policies"

SERVER_ERROR_RATIO = 0.05
FEWEST_ERRORS = 5
HALF = 0.5
DOOR_CHECK = (
    " The check of a front door asks for /v1/models without a key, and passes if the answer is 401: it fails with DNS, "
    "certificate, firewall, load balancer, route or the door's proxies, not with a model."
)
WAS_REACHED = "7d"
"""How long an endpoint that was reached once counts as one that should be."""
DAYS_LEFT = 21
"""Days before a certificate expires from which an alert fires. Google renews certificates that it manages about 30 days
before they expire."""


def alerts(settings: StackSettings) -> tuple[Alert, ...]:
    """The alerts about the edge. Those on uptime checks exist for external gateways only."""
    checked = bool(_check_names(settings))
    return (
        _errors(settings),
        *([_unreachable(settings)] if checked else []),
        *([_certificate(settings)] if checked and settings.gateway.tls is not None else []),
    )


def check_name(settings: StackSettings, what: str) -> str:
    """The name of the uptime check of a model or the front door: unique in the project, as the cluster's name is."""
    return f"{settings.cluster.name}-{what}"


def checked_models(settings: StackSettings) -> tuple[ModelSettings, ...]:
    """The models of an external gateway that have an uptime check: those that always run and have a path of their own,
    which a front door closes.
    """
    if not _reachable(settings) or not settings.routes_pools_at_the_edge:
        return ()
    return tuple(model for model in settings.models if not model.stopped and not model.scales_to_zero)


def checks_front_door(settings: StackSettings) -> bool:
    """Whether the front door has an uptime check. Checkers have many addresses (``ranges``), and no identity (IAP)."""
    door = settings.front_door
    if door is None or not _reachable(settings):
        return False
    return door.access is None or not (door.access.ranges or door.access.iap)


def _reachable(settings: StackSettings) -> bool:
    """Whether Google's checkers reach the gateway, and may."""
    return settings.gateway.exposure == "external" and settings.monitoring.uptime_check


def _check_names(settings: StackSettings) -> list[str]:
    names = [check_name(settings, model.name) for model in checked_models(settings)]
    return [*names, check_name(settings, front_door.NAME)] if checks_front_door(settings) else names


def _errors(settings: StackSettings) -> Alert:
    edge = promql.edge(settings)
    requests, bad, counted = edge.requests, edge.selector(edge.failed), edge.selector(edge.not_refused)
    return Alert(
        name="GatewayServerErrors",
        expression=f"sum(rate({requests}{bad}[5m])) / sum(rate({requests}{counted}[5m])) > {SERVER_ERROR_RATIO:g} "
        f"and sum(increase({requests}{bad}[5m])) >= {FEWEST_ERRORS}",
        seconds=5 * MINUTE,
        severity="critical",
        origin="google" if settings.gateway.is_googles else "scraped",
        means="More than 5 % of the gateway's answers have status 5xx, the load balancer's own among them: no healthy "
        "backend, a timeout, an endpoint picker that does not answer. Status 4xx does not count.",
        do=(
            "`llmd-gke status --stack STACK`, then `llmd-gke smoke --stack STACK`.",
            "`statusDetails` in the load balancer's logs says why, or `response_flags` in those of Istio's proxies: "
            "docs/troubleshooting.md.",
            "If ModelErrorRatioFast also fires, servers fail. If it does not, the fault is between the gateway and "
            "the servers.",
        ),
        source=LOAD_BALANCER,
    )


def _unreachable(settings: StackSettings) -> Alert:
    passed = _uptime(settings, Google.UPTIME_PASSED)
    was_reached = f"max by (check_id) (max_over_time({passed}[{WAS_REACHED}])) > 0"
    return Alert(
        name="EndpointUnreachable",
        expression=f"avg by (check_id) (avg_over_time({passed}[5m])) < {HALF:g} and on (check_id) {was_reached}",
        seconds=2 * MINUTE,
        severity="critical",
        origin="google",
        means="More than half of Google's checks from outside do not reach a model's health endpoint through the "
        "gateway: DNS, certificate, firewall, load balancer, route, or all of the model's replicas. Some reached it "
        "within the last week, so this is not its first start." + (DOOR_CHECK if checks_front_door(settings) else ""),
        do=(
            "`llmd-gke smoke --stack STACK` from outside the VPC says which step fails.",
            "If ModelHasNoReadyReplica also fires, begin there.",
        ),
        source=UPTIME_CHECKS,
    )


def _certificate(settings: StackSettings) -> Alert:
    left = _uptime(settings, Google.UPTIME_CERTIFICATE_DAYS)
    return Alert(
        name="CertificateExpiring",
        expression=f"min by (check_id) ({left}) < {DAYS_LEFT}",
        seconds=60 * MINUTE,
        severity="warning",
        origin="google",
        means="The certificate that clients see expires within three weeks. One that Google manages should have been "
        "renewed by now.",
        do=(
            "`fromConfig`: set the secrets `llmd-gke:tlsCertificate` and `llmd-gke:tlsKey`, then `pulumi up`.",
            "Certificate Manager: the DNS authorization of the domain must still be there (docs/edge.md).",
        ),
        source=UPTIME_CHECKS,
    )


def _uptime(settings: StackSettings, metric: Google) -> str:
    """Expression of an uptime metric. The ID of a check is :func:`check_name`, a hyphen, and eleven characters of
    base64url, such as ``demogroup-uptime-check-f-UeocjSHdQ``; by their number no longer name of a check matches.
    """
    names = "|".join(_check_names(settings))
    return f'{metric}{{monitored_resource="{UPTIME}",check_id=~"({names})-[A-Za-z0-9_-]{{11}}"}}'
