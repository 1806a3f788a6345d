"""Notification channels, alerts, dashboards and uptime checks, and what changes of them."""

from __future__ import annotations

from localcloud.tests.published_provider.changes.names import PROJECT, Props

CHANNEL = "gcp:monitoring/notificationChannel:NotificationChannel"
ALERT_POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"
DASHBOARD = "gcp:monitoring/dashboard:Dashboard"
UPTIME_CHECK = "gcp:monitoring/uptimeCheckConfig:UptimeCheckConfig"

MADE: dict[str, tuple[str, Props]] = {
    "email": (
        CHANNEL,
        {"type": "email", "displayName": "On call", "labels": {"email_address": "oncall@example.com"}},
    ),
    "slack": (
        CHANNEL,
        {"type": "slack", "labels": {"channel_name": "#llm"}, "sensitiveLabels": {"authToken": "xoxb-1"}},
    ),
    "alert": (
        ALERT_POLICY,
        {
            "displayName": "Model has no ready replica",
            "combiner": "OR",
            "severity": "CRITICAL",
            "conditions": [
                {
                    "displayName": "no ready replica",
                    "conditionPrometheusQueryLanguage": {
                        "query": "max by (name) (inference_pool_ready_pods) == 0",
                        "duration": "120s",
                        "evaluationInterval": "60s",
                        "alertRule": "ModelHasNoReadyReplica",
                        "ruleGroup": "models",
                        "labels": {"severity": "critical"},
                        "disableMetricValidation": True,
                    },
                }
            ],
            "alertStrategy": {"autoClose": "3600s"},
            "documentation": {
                "content": "No replica is ready.",
                "links": [{"displayName": "Runbook", "url": "https://example.com/alerts"}],
            },
            "userLabels": {"stack": "eu4a"},
        },
    ),
    "dashboard": (
        DASHBOARD,
        {"dashboardJson": '{"displayName":"Models","mosaicLayout":{"columns":12,"tiles":[]}}'},
    ),
    "uptime": (
        UPTIME_CHECK,
        {
            "displayName": "Front door",
            "timeout": "10s",
            "period": "60s",
            # Without project_id, which Google adds, the provider replaces the check with every change.
            "monitoredResource": {"type": "uptime_url", "labels": {"project_id": PROJECT, "host": "llm.example.com"}},
            "httpCheck": {"path": "/models/qwen/health", "useSsl": True, "validateSsl": True},
        },
    ),
}

CHANGES: tuple[tuple[str, Props], ...] = (
    ("email", {}),
    ("email", {"labels.email_address": "other@example.com"}),
    ("email", {"displayName": None}),
    ("email", {"enabled": False}),
    ("email", {"type": "sms", "labels": {"number": "+15550100"}}),
    ("slack", {}),
    ("slack", {"sensitiveLabels.authToken": "xoxb-2"}),
    ("slack", {"labels.channel_name": "#other"}),
    ("alert", {}),
    ("alert", {"displayName": "Other"}),
    ("alert", {"conditions[0].conditionPrometheusQueryLanguage.query": "up == 0"}),
    ("alert", {"conditions[0].conditionPrometheusQueryLanguage.duration": "300s"}),
    ("alert", {"conditions[0].conditionPrometheusQueryLanguage.labels": None}),
    ("alert", {"severity": "WARNING"}),
    ("alert", {"severity": "INFO"}),
    ("alert", {"enabled": False}),
    ("alert", {"alertStrategy": None}),
    ("alert", {"documentation.content": "Other."}),
    ("alert", {"documentation": None}),
    ("alert", {"userLabels": None}),
    ("alert", {"project": "other"}),
    ("dashboard", {}),
    ("dashboard", {"dashboardJson": '{"displayName":"Other","mosaicLayout":{"columns":12,"tiles":[]}}'}),
    ("dashboard", {"dashboardJson": "{"}),
    ("uptime", {}),
    ("uptime", {"period": "300s"}),
    ("uptime", {"timeout": "20s"}),
    ("uptime", {"httpCheck.path": "/models/other/health"}),
    ("uptime", {"httpCheck.useSsl": False}),
    ("uptime", {"monitoredResource.labels.host": "other.example.com"}),
    ("uptime", {"httpCheck.requestMethod": "POST"}),
)  # fmt: skip
