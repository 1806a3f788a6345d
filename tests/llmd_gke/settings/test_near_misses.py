"""Values and keys that are nearly right: the message leads to the right one, never into the next error."""

from __future__ import annotations

from tests.llmd_gke.settings.conftest import Config, Refuse


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
