"""Channels, policies, dashboard and uptime checks with the published provider: made, kept, changed, taken away."""

from __future__ import annotations

from typing import Any

from llmd_gke.settings.secret_keys import STAND_IN_SECRET
from localcloud.tests.real_engine.test_changes import UP, changes
from tests.real_engine.harness import Rehearsal

PROGRAM = """
import pulumi

from components import configuration
from components.cloud_monitoring import CloudMonitoring, CloudMonitoringArgs
from components.google import google_provider

settings, secrets = configuration.read()
google = google_provider(settings)
args = CloudMonitoringArgs.of(settings, secrets, gateway_ip=pulumi.Output.from_input("203.0.113.7"))
if args is not None:
    CloudMonitoring("cloud-monitoring", args, pulumi.ResourceOptions(providers=[google]))
"""
CHANNELS: list[dict[str, Any]] = [
    {"email": "oncall@example.com", "minimumSeverity": "critical"},
    {"slack": {"channel": "#llm"}},
    {"webhook": {"urlSecretName": "webhookUrl"}},
    {"pubSub": {"topic": "projects/other-project/topics/alerts"}},
]


def notify(channels: list[dict[str, Any]]) -> Any:
    return lambda config: config.update({"llmd-gke:monitoring": {"notify": channels}})


def kept(published: Rehearsal, sort: str) -> dict[str, Any]:
    return {name: one for name, one in published.kept()["resources"].items() if f"/{sort}/" in name}


def secrets_are_hidden(published: Rehearsal) -> None:
    # The history beside it holds the settings, in which secrets are made up and not encrypted.
    (state,) = (file.read_text() for file in published.workdir.state.rglob("stacks/**/local.json"))
    assert "cloud-monitoring-slack" in state
    assert STAND_IN_SECRET not in state, "a channel's secret in plain text"


def test_everything_that_cloud_monitoring_gets_is_made_stays_as_it_is_and_goes(published: Rehearsal) -> None:
    published.program(PROGRAM)
    published.edit("local", notify(CHANNELS))
    published.up("local")  # secrets of channels are made up

    channels, policies = kept(published, "notificationChannels"), kept(published, "alertPolicies")
    assert sorted(one["type"] for one in channels.values()) == ["email", "pubsub", "slack", "webhook_tokenauth"]
    assert len(policies) >= 15
    assert {len(one["notificationChannels"]) for one in policies.values()} == {3, 4}
    assert len(kept(published, "dashboards")) == len(kept(published, "uptimeCheckConfigs")) == 1

    secrets_are_hidden(published)
    assert changes(published.steps("preview", stack="local")) == {}
    published.pulumi("refresh", "--yes", "--stack", "local")
    assert changes(published.steps("preview", stack="local")) == {}, "a refresh finds nothing else"
    secrets_are_hidden(published)

    published.edit("local", notify(CHANNELS[1:]))
    steps = changes(published.steps(*UP, stack="local"))
    assert set(steps.values()) == {"update", "delete"}, "policies let go of the channel before it is deleted"
    assert len(kept(published, "notificationChannels")) == 3

    assert "Nothing is left" in published.down("--stack", "local").stdout
    assert published.kept() == {}
