"""Settings of the front door: callers, their keys, and what they need of the models."""

from __future__ import annotations

from typing import Any

import pytest

from llmd_gke.settings import SettingsError, parse
from llmd_gke.settings.stack_secrets import plain_secrets
from llmd_gke.settings.validation import CLOUD_VARIABLE
from tests.llmd_gke.settings.conftest import Accept, Config, Refuse

LONG = "k" * 40


def door(config: Config, *callers: dict[str, Any], **more: Any) -> Config:
    config["llmd-gke:gateway"].pop("open", None)
    config["llmd-gke:frontDoor"] = {"callers": list(callers) or [{"name": "team-a"}], **more}
    return config


def with_keys(config: Config, keys: object) -> str:
    with pytest.raises(SettingsError) as caught:
        parse(config, "eu4a", None, keys=keys)
    return str(caught.value)


def test_all_limits_fit_into_one_policy(config: Config, refused: Refuse, accepted: Accept) -> None:
    callers = [{"name": f"team-{n}", "requestsPerMinute": 1, "tokensPerDay": 1} for n in range(129)]
    assert accepted(door(config, *callers[:128])).settings.front_door is not None
    message = refused(door(config, *callers))
    assert "258 limits" in message
    assert "256" in message


def test_every_caller_has_a_key_and_every_key_a_caller(config: Config) -> None:
    message = with_keys(door(config, {"name": "team-a"}, {"name": "team-b"}), {"team-a": LONG, "team-c": LONG + "c"})
    assert "llmd-gke:callerKeys.team-b" in message
    assert "the caller team-b has no key" in message
    assert "there is no caller team-c" in message
    assert LONG not in message


def test_a_second_key_of_a_caller_has_a_name(config: Config) -> None:
    checked = parse(door(config), "eu4a", None, keys={"team-a": LONG, "team-a.next": LONG + "2"})
    assert checked.settings.front_door is not None
    message = with_keys(door(config), {"team-a": LONG, "team-a.Next one": LONG + "2"})
    assert "invalid name" in message


@pytest.mark.parametrize("key", ["short", "k" * 31, "k" * 20 + " " + "k" * 20, "ü" * 40, "", 7])
def test_a_key_is_long_and_fits_a_header_and_no_message_shows_it(config: Config, key: object) -> None:
    message = with_keys(door(config), {"team-a": key})
    assert "llmd-gke:callerKeys.team-a" in message
    assert "at least 32" in message
    assert not key or f"{key}" not in message.replace("[caller-key]", "").replace("32", "")


def test_two_equal_keys_are_refused_without_showing_them(config: Config) -> None:
    message = with_keys(door(config, {"name": "team-a"}, {"name": "team-b"}), {"team-a": LONG, "team-b": LONG})
    assert "equals that of team-a" in message
    assert LONG not in message


def test_a_stack_without_any_key_is_told_how_to_set_one(config: Config, refused: Refuse) -> None:
    message = refused(door(config), [])
    assert "llmd-gke:callerKeys" in message
    assert "pulumi config set --secret --path 'llmd-gke:callerKeys" in message


def test_encrypted_keys_are_counted_without_being_read(config: Config) -> None:
    secure = {"secure": "v1:abc:def"}
    assert parse(door(config), "eu4a", None, keys={"team-a": secure}).settings.front_door is not None
    assert "team-a has no key" in with_keys(door(config), {"team-b": secure})
    assert parse(door(config), "eu4a", None, keys=secure).settings.front_door is not None


def test_keys_of_the_stand_ins_stay_on_this_machine(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    for keys in ("rehearsal-dummy", {"team-a": "rehearsal-dummy"}):
        assert "only for the local stand-ins" in with_keys(door(config), keys)
        with monkeypatch.context() as local:
            local.setenv(CLOUD_VARIABLE, "rehearsal")
            assert parse(door(config), "eu4a", None, keys=keys).settings.front_door is not None


def test_one_plain_key_among_encrypted_ones_is_found() -> None:
    keys = {"llmd-gke:callerKeys": {"team-a": {"secure": "v1:abc"}, "team-b": LONG}}
    (setting_finding,) = plain_secrets(keys, list(keys))
    assert setting_finding.finding.rule == "plain-secret"
    assert setting_finding.key == "llmd-gke:callerKeys.team-b"
    assert "pulumi config rm --path 'llmd-gke:callerKeys[\"team-b\"]'" in setting_finding.finding.fix
    assert LONG not in str(setting_finding)
    assert not plain_secrets({"llmd-gke:callerKeys": {"team-a": {"secure": "v1:abc"}}}, [])


TOKENS = {"issuer": "https://accounts.example.com", "audiences": ["llm"], "callerClaim": "team"}


def test_tokens_take_the_place_of_keys(config: Config, accepted: Accept) -> None:
    identity = {**TOKENS, "jwksUri": "https://accounts.example.com/keys"}
    settings = accepted(door(config, identity=identity), []).settings
    assert settings.front_door is not None
    assert not settings.front_door.uses_keys
    assert "both" in with_keys(door(config, identity=identity), {"team-a": LONG})
