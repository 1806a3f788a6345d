"""Several problems at once: all are in one message, and none hides or invents another."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from llmd_gke.settings import SettingsError, parse
from llmd_gke.settings.errors import below, key_of
from tests.llmd_gke.settings.conftest import HEAD, Accept, Config, Refuse

RICH: Config = yaml.safe_load("""
cluster: {name: llmd, zone: us-east5-b, endpoint: ip, authorizedNetworks: {office: 203.0.113.0/24},
  systemPool: {minNodes: 4, maxNodes: 4}}
network: {nodes: 10.16.0.0/20}
budget: {usdPerHour: 200}
registry: {docker.io: m.example/a, ghcr.io: m.example/a, quay.io: m.example/a, registry.k8s.io: m.example/a}
gateway: {exposure: external, domain: llm.example.com, tls: {certificateManager: [llm]}}
frontDoor:
  callers: [{name: team-a, models: [qwen], tokensPerDay: 1000}, {name: team-b, priority: 1}]
  identity: {issuer: https://a.example.com, audiences: [llm], callerClaim: team, jwksUri: https://a.example.com/keys}
  access: {iap: {clientId: 123456789012-abc123.apps.googleusercontent.com}}
monitoring:
  traces: {endpoint: http://collector.traces.svc.cluster.local:4317}
  notify:
    - email: oncall@example.com
    - slack: {channel: "#alerts", secretName: slackToken}
    - webhook: {url: https://example.com/hook, user: me, secretName: webhookPassword}
storage: {buckets: [some-weights]}
pools:
  - {name: v6e4, machineType: ct6e-standard-4t, topology: 2x2, maxNodes: 5, acceptReclaimable: true,
     capacity: [{kind: spot}, {kind: spot, zone: us-east5-a, maxNodes: 5}]}
models:
  - {name: qwen, uri: hf://Qwen/Qwen2.5-3B-Instruct, pool: v6e4, weightsCache: gs://some-weights,
     parallelDownload: true, minReplicas: 1, maxReplicas: 3,
     schedule: {timeZone: Europe/Berlin, hours: ["Mon-Fri 08:00-18:00"]}, scaling: {source: keda, runningPerReplica: 9},
     env: [{name: TOKEN, secret: some, key: token}]}
""")
"""Settings that need each other."""


def test_many_problems_fit_into_two_kilobytes_and_all_are_named(config: Config, refused: Refuse) -> None:
    model = config["llmd-gke:models"][0]
    config["llmd-gke:models"] = [{**model, "replicas": "x" * 500, "dtype": 7} for _ in range(9)]
    message = refused(config)
    assert len(message.encode()) <= 2048
    assert message.startswith("Pulumi.eu4a.yaml has 18 problems:")
    assert "more, shown in full once these are corrected: " in message
    assert "llmd-gke:models[8].dtype" in message


def test_two_wrong_things_give_two_findings_in_one_message(config: Config, refused: Refuse) -> None:
    config["llmd-gke:cluster"]["zone"] = "europe-west4-b"
    config["llmd-gke:models"][0]["replicas"] = "3"
    message = refused(config)
    assert message.startswith("Pulumi.eu4a.yaml has 2 problems:")
    assert "llmd-gke:models[0].replicas" in message
    assert "llmd-gke:cluster.zone" in message


@pytest.mark.parametrize("entry", ["text", None, 7, ["list"], {}])
@pytest.mark.parametrize("section", ["pools", "models"])
def test_a_broken_list_entry_does_not_hide_what_else_is_wrong(
    config: Config, refused: Refuse, section: str, entry: object
) -> None:
    config[f"llmd-gke:{section}"].append(entry)
    config["llmd-gke:cluster"]["name"] = "Bad_Name"
    message = refused(config)
    assert f"llmd-gke:{section}[1]" in message
    assert "llmd-gke:cluster.name" in message


@pytest.mark.parametrize("section", ["cluster", "pools", "models"])
@pytest.mark.parametrize("value", [None, "text", 7, "absent"])
def test_a_broken_section_is_the_only_finding_where_nothing_else_is_wrong(
    config: Config, refused: Refuse, section: str, value: object
) -> None:
    config.pop(f"llmd-gke:{section}")
    if value != "absent":
        config[f"llmd-gke:{section}"] = value
    message = refused(config)
    assert message.startswith(f"{HEAD}  llmd-gke:{section}"), "no finding about what only stands in for it"


def test_exposure_is_not_judged_while_what_allows_it_is_misshapen(config: Config, refused: Refuse) -> None:
    config["llmd-gke:gateway"] = {"exposure": "external", "allowPlainHttp": "true"}
    assert refused(config).startswith(HEAD)


def test_a_finding_about_one_pool_does_not_wait_for_another_pool(config: Config, refused: Refuse) -> None:
    pool = config["llmd-gke:pools"][0]
    config["llmd-gke:pools"] = [{**pool, "topology": "9x9"}, {**pool, "name": "other", "machineType": 7}]
    message = refused(config)
    assert "llmd-gke:pools[0].topology" in message
    assert "llmd-gke:pools[1].machineType" in message


def test_a_value_of_the_wrong_type_causes_findings_about_itself_only(config: Config, accepted: Accept) -> None:
    config |= {f"llmd-gke:{section}": value for section, value in RICH.items()}
    accepted(config)
    for path in _paths(config):
        spoilt = copy.deepcopy(config)
        parent: Any = spoilt
        for step in path[:-1]:
            parent = parent[step]
        parent[path[-1]] = {"wrong": 1}
        with pytest.raises(SettingsError) as caught:
            parse(spoilt, "eu4a")
        key = key_of(path).removeprefix("llmd-gke:")
        assert {one.key for one in caught.value.findings if not below(one.key, [key])} == set()


def _paths(value: object, above: tuple[int | str, ...] = ()) -> Iterator[tuple[int | str, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*above, step)
        yield from _paths(inner, (*above, step))
