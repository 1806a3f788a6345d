"""Several problems at once: all are in one message, and none hides or invents another."""

from __future__ import annotations

import pytest

from tests.llmd_gke.settings.conftest import HEAD, Config, Refuse


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
@pytest.mark.parametrize("section", ["tpuPools", "models"])
def test_a_broken_list_entry_does_not_hide_what_else_is_wrong(
    config: Config, refused: Refuse, section: str, entry: object
) -> None:
    config[f"llmd-gke:{section}"].append(entry)
    config["llmd-gke:cluster"]["name"] = "Bad_Name"
    message = refused(config)
    assert f"llmd-gke:{section}[1]" in message
    assert "llmd-gke:cluster.name" in message


@pytest.mark.parametrize("section", ["cluster", "tpuPools", "models"])
@pytest.mark.parametrize("value", [None, "text", 7, "absent"])
def test_a_broken_section_is_the_only_finding_where_nothing_else_is_wrong(
    config: Config, refused: Refuse, section: str, value: object
) -> None:
    config.pop(f"llmd-gke:{section}")
    if value != "absent":
        config[f"llmd-gke:{section}"] = value
    message = refused(config)
    assert message.startswith(f"{HEAD}  llmd-gke:{section}"), "no finding about what only stands in for it"


@pytest.mark.parametrize(
    ("section", "value"),
    [
        ("network", {"nodes": 7}),
        ("gateway", {"exposure": "external", "allowPlainHttp": "true"}),
        ("cluster", {"name": "c", "zone": "europe-west4-a", "endpoint": "ip", "authorizedNetworks": {"office": 7}}),
        ("cluster", {"name": "c", "zone": "europe-west4-a", "systemPool": {"minNodes": 9, "maxNodes": "9"}}),
    ],
)
def test_rules_that_compare_do_not_judge_what_is_misshapen(
    config: Config, refused: Refuse, section: str, value: object
) -> None:
    config[f"llmd-gke:{section}"] = value
    assert refused(config).startswith(HEAD)
