"""An alert in Cloud Monitoring's format: ``AlertPolicy`` of its API v3.

Source of the fields: https://monitoring.googleapis.com/$discovery/rest?version=v3, revision 20260129, against which the
tests check every field.
"""

from __future__ import annotations

from llmd_gke.json_types import Json, JsonObject
from llmd_gke.manifests.alerts.alert import GROUP, Alert, Severity
from llmd_gke.settings import StackSettings

SEVERITIES: dict[Severity, str] = {"critical": "CRITICAL", "warning": "WARNING"}
"""Severities in the API. It has none that fits ``info``: the field is then omitted."""
EVALUATION_SECONDS = 60
AUTO_CLOSE_SECONDS = 3600
"""Seconds until an incident closes if its series has ended, such as a deleted pod's (API: at least 30 minutes)."""

CLUSTER_LABEL, ALERT_LABEL, SEVERITY_LABEL, MODEL_LABEL = "llmd_gke_cluster", "llmd_gke_alert", "severity", "model"
"""Labels of policies, by which commands select those of a stack."""


def display_name(alert: Alert, settings: StackSettings) -> str:
    """Unique in the project, as the cluster's name is."""
    return f"{settings.cluster.name}: {alert.title}"


def alert_policy(alert: Alert, settings: StackSettings) -> JsonObject:
    """The policy, without its notification channels, whose names are known only once they exist."""
    condition: JsonObject = {
        "query": alert.expression,
        "duration": f"{alert.seconds}s",
        "evaluationInterval": f"{EVALUATION_SECONDS}s",
        "ruleGroup": GROUP,
        "alertRule": alert.name,
        "labels": dict[str, Json](alert.labels),
        # No metric exists yet at the first `up`.
        "disableMetricValidation": True,
    }
    severity = SEVERITIES.get(alert.severity)
    return {
        "displayName": display_name(alert, settings),
        "combiner": "OR",
        "enabled": True,
        **({} if severity is None else {"severity": severity}),
        "conditions": [{"displayName": alert.title, "conditionPrometheusQueryLanguage": condition}],
        "documentation": documentation(alert, settings),
        "alertStrategy": {"autoClose": f"{AUTO_CLOSE_SECONDS}s"},
        "notificationChannels": [],
        "userLabels": user_labels(alert, settings),
    }


def documentation(alert: Alert, settings: StackSettings) -> JsonObject:
    """A notification's text: the runbook's section, with a link to it if the settings contain the page's address."""
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(alert.do, 1))
    content = f"{alert.means}\n\n{steps}\n\nRunbook: {alert.runbook}\n\nSource: {alert.source}"
    address = settings.monitoring.runbook_url
    links: list[Json] = [] if address is None else [{"displayName": "Runbook", "url": f"{address}#{alert.anchor}"}]
    return {
        "content": content,
        "mimeType": "text/markdown",
        "subject": f"{alert.severity}: {display_name(alert, settings)}",
        **({"links": links} if links else {}),
    }


def user_labels(alert: Alert, settings: StackSettings) -> JsonObject:
    """Labels in the form that the API allows: lower-case letters, digits, underscores and dashes."""
    labels: JsonObject = {
        CLUSTER_LABEL: settings.cluster.name,
        ALERT_LABEL: alert.name.lower(),
        SEVERITY_LABEL: alert.severity,
    }
    return labels if alert.model is None else {**labels, MODEL_LABEL: alert.model}
