"""Settings of the load balancer in front of the front door: address ranges, throttles and IAP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmd_gke.settings import Checked, required_secrets
from llmd_gke.settings.stack_secrets import missing_secrets, plain_secrets
from tests.llmd_gke.settings.conftest import Config, Refuse

CLIENT = "123456789012-abc123.apps.googleusercontent.com"
HTTPS = {"exposure": "external", "tls": {"certificateManager": ["llm"]}}
SECRET = "llmd-gke:iapClientSecret"


def with_access(config: Config, access: dict[str, Any], gateway: dict[str, Any] | None = None, **more: Any) -> Config:
    config["llmd-gke:gateway"] = HTTPS if gateway is None else gateway
    config["llmd-gke:frontDoor"] = {"callers": [{"name": "team-a"}], "access": access, **more}
    return config


def test_without_it_the_load_balancer_restricts_nothing(config: Config, accepted: Callable[..., Checked]) -> None:
    settings = accepted(config).settings
    assert not settings.access.uses_cloud_armor
    assert settings.access.iap is None
    assert "iap" not in settings.apis


@pytest.mark.parametrize(
    "access",
    [
        {"ranges": ["203.0.113.0/24", "198.51.100.7/32"]},
        {"requestsPerMinutePerAddress": 1},
        {"ranges": ["10.0.0.0/8"], "requestsPerMinutePerAddress": 1_000_000, "iap": {"clientId": CLIENT}},
    ],
)
def test_each_of_its_parts_may_be_set_alone(
    config: Config, accepted: Callable[..., Checked], access: dict[str, Any]
) -> None:
    settings = accepted(with_access(config, access)).settings
    assert settings.access.uses_cloud_armor is ("ranges" in access or "requestsPerMinutePerAddress" in access)
    assert ("iap" in settings.apis) is ("iap" in access)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("203.0.113.0/33", "not an address range"),
        ("203.0.113.7", "not an address range in CIDR notation"),
        ("example.com", "not an address range"),
        ("", "not an address range"),
        ("203.0.113.7/24", "write 203.0.113.0/24"),
        (" 203.0.113.0/24", "write 203.0.113.0/24"),
        ("203.0.113.0/255.255.255.0", "write 203.0.113.0/24"),
        ("2001:db8::/32", "the gateway's address is IPv4"),
        ("0.0.0.0/0", "much of the Internet"),
        ("128.0.0.0/1", "much of the Internet"),
    ],
)
def test_a_range_names_somebody(config: Config, refused: Refuse, bad: str, message: str) -> None:
    text = refused(with_access(config, {"ranges": ["192.0.2.0/24", bad]}))
    assert f'llmd-gke:frontDoor.access.ranges[1] = "{bad}"' in text
    assert message in text
    assert "[address-range]" in text


def test_ranges_that_are_everybody_only_together_are_refused(config: Config, refused: Refuse) -> None:
    text = refused(with_access(config, {"ranges": [f"{first}.0.0.0/8" for first in (32, 33, 34, 35)]}))
    assert text.count("[address-range]") == 4


def test_a_range_is_listed_once_and_all_fit_into_ten_rules(config: Config, refused: Refuse) -> None:
    assert "listed twice" in refused(with_access(config, {"ranges": ["192.0.2.0/24", "192.0.2.0/24"]}))
    text = refused(with_access(config, {"ranges": [f"192.0.2.{n}/32" for n in range(101)]}))
    assert "llmd-gke:frontDoor.access.ranges = 101" in text
    assert "at most 100" in text


@pytest.mark.parametrize("count", [0, -1, 1_000_001])
def test_a_throttle_is_one_that_cloud_armor_takes(config: Config, refused: Refuse, count: int) -> None:
    text = refused(with_access(config, {"requestsPerMinutePerAddress": count}))
    assert f"llmd-gke:frontDoor.access.requestsPerMinutePerAddress = {count}" in text
    assert "1 to 1000000" in text
    assert "[address-throttle]" in text


@pytest.mark.parametrize("bad", ["GOCSPX-abcdefgh", "client", "https://accounts.google.com", f"{CLIENT}/", ""])
def test_iap_has_the_id_of_an_oauth_client_not_its_secret(config: Config, refused: Refuse, bad: str) -> None:
    text = refused(with_access(config, {"iap": {"clientId": bad}}))
    assert "llmd-gke:frontDoor.access.iap.clientId" in text
    assert "[iap-client]" in text


def test_access_without_anything_is_refused(config: Config, refused: Refuse) -> None:
    text = refused(with_access(config, {}))
    assert "llmd-gke:frontDoor.access" in text
    assert "[access-empty]" in text


@pytest.mark.parametrize(
    "access", [{"ranges": ["192.0.2.0/24"]}, {"requestsPerMinutePerAddress": 6}, {"iap": {"clientId": CLIENT}}]
)
def test_an_internal_gateway_takes_none_of_it(config: Config, refused: Refuse, access: dict[str, Any]) -> None:
    text = refused(with_access(config, access, {"exposure": "internal"}))
    assert "llmd-gke:frontDoor.access = " in text
    assert "external gateways only" in text
    assert "[access-gateway]" in text


def test_iap_needs_https_and_ranges_do_not(config: Config, refused: Refuse, accepted: Callable[..., Checked]) -> None:
    plain = {"exposure": "external", "allowPlainHttp": True}
    text = refused(with_access(config, {"iap": {"clientId": CLIENT}}, plain))
    assert "IAP answers HTTPS requests only" in text
    assert accepted(with_access(config, {"ranges": ["192.0.2.0/24"]}, plain)).settings.access.ranges


def test_paths_that_are_kept_are_said_to_be_outside_of_it(config: Config, accepted: Callable[..., Checked]) -> None:
    checked = accepted(with_access(config, {"ranges": ["192.0.2.0/24"]}, keepPaths=True))
    (warning,) = [one.finding.problem for one in checked.warnings if one.finding.rule == "kept-paths"]
    assert "outside of frontDoor.access" in warning


def test_iaps_secret_is_needed_with_iap_only_and_never_in_plain_text(
    config: Config, accepted: Callable[..., Checked]
) -> None:
    assert SECRET not in required_secrets(accepted(with_access(config, {"ranges": ["192.0.2.0/24"]})).settings)
    settings = accepted(with_access(config, {"iap": {"clientId": CLIENT}})).settings
    assert SECRET in required_secrets(settings)
    (missing,) = [one for one in missing_secrets(settings, ["llmd-gke:callerKeys"]) if one.key == SECRET]
    assert missing.finding.fix == f"pulumi config set --secret {SECRET} (then paste the secret of the OAuth client)"
    (plain,) = plain_secrets({SECRET: "GOCSPX-not-encrypted"}, [])
    assert (plain.key, plain.value, plain.finding.rule) == (SECRET, None, "plain-secret")
    assert "GOCSPX" not in str(plain)
    assert not plain_secrets({SECRET: "GOCSPX-not-encrypted"}, [SECRET])
