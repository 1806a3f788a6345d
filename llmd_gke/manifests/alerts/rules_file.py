"""The alerts as a rules file of Prometheus, for promtool and for evaluation outside Google Cloud."""

from __future__ import annotations

from collections.abc import Iterable

import yaml

from llmd_gke.json_types import Json, JsonObject
from llmd_gke.manifests.alerts.alert import GROUP, Alert
from llmd_gke.manifests.alerts.policy import EVALUATION_SECONDS


def rules(alerts: Iterable[Alert], interval_seconds: int = EVALUATION_SECONDS) -> JsonObject:
    """The content of the file: one group, evaluated by default as often as Cloud Monitoring evaluates the policies."""
    made: list[Json] = [_rule(alert) for alert in alerts]
    return {"groups": [{"name": GROUP, "interval": f"{interval_seconds}s", "rules": made}]}


def rules_yaml(alerts: Iterable[Alert], interval_seconds: int = EVALUATION_SECONDS) -> str:
    """The file as YAML text."""
    return yaml.safe_dump(rules(alerts, interval_seconds), sort_keys=False, allow_unicode=True, width=4096)


def _rule(alert: Alert) -> JsonObject:
    annotations: JsonObject = {
        "summary": alert.title,
        "description": alert.means,
        "do": "\n".join(alert.do),
        "runbook": alert.runbook,
        "source": alert.source,
    }
    return {
        "alert": alert.name,
        "expr": alert.expression,
        "for": f"{alert.seconds}s",
        "labels": dict[str, Json](alert.labels),
        "annotations": annotations,
    }
