"""Values and keys that are nearly right: the message leads to the right one, never into the next error."""

from __future__ import annotations

import pytest

from tests.llmd_gke.settings.conftest import Config, Refuse


@pytest.mark.parametrize(
    ("section", "values", "message"),
    [
        (
            "models",
            {"replicas": 0},
            "allowed: at least 1\n    fix:     to keep the model without a server, set stopped: true",
        ),
        ("models", {"dtype": "float16"}, "allowed: auto, bfloat16\n    fix:     dtype: bfloat16"),
        (
            "tpuPools",
            {"capacity": "Spot"},
            "allowed: on-demand, spot, reservation, flex-start\n    fix:     capacity: spot",
        ),
        ("tpuPools", {"diskGb": 1}, "this number is out of range  [wrong-value]\n    allowed: at least"),
        ("tpuPools", {"topology": None}, "fix:     give topology a value, or remove the line"),
        ("tpuPools", {"max_nodes": 4}, "did you mean maxNodes?"),
    ],
)
def test_a_value_out_of_range_is_answered_with_what_is_allowed(
    config: Config, refused: Refuse, section: str, values: dict[str, object], message: str
) -> None:
    config[f"llmd-gke:{section}"][0].update(values)
    assert message in refused(config)


def test_a_project_number_is_not_to_be_put_in_quotes(config: Config, refused: Refuse) -> None:
    config["gcp:project"] = 123456789012
    message = refused(config)
    assert "quotes" not in message
    assert "gcloud projects describe 123456789012" in message


def test_a_misspelt_namespace_is_named_and_its_section_not_missed(config: Config, refused: Refuse) -> None:
    config["llmd-gk:cluster"] = config.pop("llmd-gke:cluster")
    message = refused(config)
    assert "llmd-gk:cluster\n    no program reads this namespace" in message
    assert "did you mean llmd-gke:cluster?" in message
    assert "this setting is missing" not in message


def test_keys_of_other_programs_are_left_alone(config: Config, accepted: object) -> None:
    config["aws:region"] = "eu-west-1"
    config["other:models"] = []
    assert callable(accepted)
    assert accepted(config)
