"""Settings of the load balancer in front of the front door: address ranges, throttles and IAP."""

from __future__ import annotations

from typing import Any

import pytest

from llmd_gke.settings import required_secrets
from llmd_gke.settings.stack_secrets import missing_secrets, plain_secrets
from tests.llmd_gke.settings.conftest import Accept, Config, Refuse

CLIENT = "123456789012-abc123.apps.googleusercontent.com"
HTTPS = {"exposure": "external", "tls": {"certificateManager": ["llm"]}}
SECRET = "llmd-gke:iapClientSecret"


def with_access(config: Config, access: dict[str, Any], gateway: dict[str, Any] | None = None, **more: Any) -> Config:
    config["llmd-gke:gateway"] = HTTPS if gateway is None else gateway
    config["llmd-gke:frontDoor"] = {"callers": [{"name": "team-a"}], "access": access, **more}
    return config


@pytest.mark.parametrize(
    "access",
    [
        {"ranges": ["203.0.113.0/24", "198.51.100.7/32"]},
        {"requestsPerMinutePerAddress": 1},
        {"ranges": ["10.0.0.0/8"], "requestsPerMinutePerAddress": 1_000_000, "iap": {"clientId": CLIENT}},
    ],
)
def test_each_of_its_parts_may_be_set_alone(config: Config, accepted: Accept, access: dict[str, Any]) -> None:
    settings = accepted(with_access(config, access)).settings
    assert settings.access.uses_cloud_armor is ("ranges" in access or "requestsPerMinutePerAddress" in access)
    assert ("iap" in settings.apis) is ("iap" in access)


def test_a_range_is_listed_once_and_all_fit_into_ten_rules(config: Config, refused: Refuse) -> None:
    assert "listed twice" in refused(with_access(config, {"ranges": ["192.0.2.0/24", "192.0.2.0/24"]}))
    text = refused(with_access(config, {"ranges": [f"192.0.2.{n}/32" for n in range(101)]}))
    assert "llmd-gke:frontDoor.access.ranges = 101" in text
    assert "at most 100" in text


def test_iaps_secret_is_needed_with_iap_only_and_never_in_plain_text(config: Config, accepted: Accept) -> None:
    assert SECRET not in required_secrets(accepted(with_access(config, {"ranges": ["192.0.2.0/24"]})).settings)
    settings = accepted(with_access(config, {"iap": {"clientId": CLIENT}})).settings
    assert SECRET in required_secrets(settings)
    (missing,) = [one for one in missing_secrets(settings, ["llmd-gke:callerKeys"]) if one.key == SECRET]
    assert missing.finding.fix == f"pulumi config set --secret {SECRET} (then paste the secret of the OAuth client)"
    (plain,) = plain_secrets({SECRET: "GOCSPX-not-encrypted"}, [])
    assert (plain.key, plain.value, plain.finding.rule) == (SECRET, None, "plain-secret")
    assert "GOCSPX" not in str(plain)
    assert not plain_secrets({SECRET: "GOCSPX-not-encrypted"}, [SECRET])
