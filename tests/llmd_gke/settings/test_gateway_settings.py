"""What the edge's settings allow."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmd_gke.settings import Checked
from llmd_gke.settings.errors import describe
from tests.llmd_gke.settings.conftest import Config, Refuse

HEAD = "Pulumi.eu4a.yaml has 1 problem:\n\n"
TLS = {"certificateManager": ["llm"]}


def test_https_on_the_internet_needs_no_permission_and_gives_no_warning(
    config: Config, accepted: Callable[..., Checked]
) -> None:
    config["llmd-gke:gateway"] = {"exposure": "external", "open": True, "tls": TLS}
    checked = accepted(config)
    assert checked.settings.gateway.scheme == "https"
    assert not [one for one in checked.warnings if one.finding.rule == "plain-http"]


@pytest.mark.parametrize(
    ("gateway", "message"),
    [
        (
            {"exposure": "external", "open": True},
            '  llmd-gke:gateway.exposure = "external"\n'
            "    an external gateway would serve plain HTTP to the Internet  [plain-http]\n"
            "    allowed: exposure: internal, tls with a certificate, or allowPlainHttp: true to accept this\n"
            "    fix:     pulumi config set --path llmd-gke:gateway.exposure internal",
        ),
        (
            {"exposure": "external", "tls": TLS},
            '  llmd-gke:gateway.exposure = "external"\n'
            "    everyone on the Internet could use the models: nothing requires a key, a token or an identity, or "
            "restricts addresses  [open-gateway]\n"
            "    allowed: a front door with keys or tokens, IAP, address ranges, or an internal gateway\n"
            "    fix:     add the line `open: true` below llmd-gke:gateway if this is meant; otherwise set "
            "llmd-gke:frontDoor",
        ),
        (
            {"tls": {}},
            "  llmd-gke:gateway.tls = {}\n"
            "    tls names no certificate  [gateway-certificate]\n"
            "    allowed: one of certificateManager, preSharedCertificates, fromConfig\n"
            "    fix:     set one certificate source, or remove tls",
        ),
        (
            {"tls": {**TLS, "fromConfig": True}},
            '  llmd-gke:gateway.tls = {"certificateManager": ["llm"], "fromConfig": true}\n'
            "    certificateManager and fromConfig exclude each other  [gateway-certificate]\n"
            "    allowed: one of certificateManager, preSharedCertificates, fromConfig\n"
            "    fix:     set one certificate source, or remove tls",
        ),
        (
            {"tls": {"certificateManager": ["projects/p/locations/global/certificateMaps/Map"]}},
            "  llmd-gke:gateway.tls = "
            '{"certificateManager": ["projects/p/locations/global/certificateMaps/Map"]}\n'
            "    'projects/p/locations/global/certificateMaps/Map' is not the name of a certificate (certificate "
            "maps work with global gateways only)  [gateway-certificate]\n"
            "    allowed: the bare name of a certificate in the gateway's region, without project or location\n"
            "    fix:     for example map",
        ),
        (
            {"tls": {"preSharedCertificates": [f"c{number}" for number in range(16)]}},
            "    preSharedCertificates names 16 certificates  [gateway-certificate]\n"
            "    allowed: at most 15\n"
            "    fix:     use one certificate with several names",
        ),
        (
            {"domain": "https://llm.example.com"},
            '  llmd-gke:gateway.domain = "https://llm.example.com"\n'
            "    'https://llm.example.com' is not a host name  [gateway-domain]\n"
            "    allowed: lower-case labels separated by dots, without scheme, port, path or wildcard\n"
            "    fix:     for example llm.example.com",
        ),
        (
            {"tls": TLS, "allowPlainHttp": True},
            "  llmd-gke:gateway.allowPlainHttp = true\n"
            "    with tls the gateway serves HTTPS only, so this has no effect  [gateway-combination]\n"
            "    fix:     remove allowPlainHttp",
        ),
        (
            {"redirectHttp": True},
            "  llmd-gke:gateway.redirectHttp = true\n"
            "    there is no HTTPS to redirect to  [gateway-combination]\n"
            "    fix:     set tls, or remove redirectHttp",
        ),
        (
            {"exposure": "external", "open": True, "tls": TLS, "allowGlobalAccess": True},
            "  llmd-gke:gateway.allowGlobalAccess = true\n"
            "    an external gateway is reachable from everywhere; GKE supports this only for internal gateways  "
            "[gateway-combination]\n"
            "    fix:     remove allowGlobalAccess",
        ),
        (
            {"dnsZone": "example-com"},
            '  llmd-gke:gateway.dnsZone = "example-com"\n'
            "    a DNS record needs a name  [gateway-combination]\n"
            "    fix:     set domain, or remove dnsZone",
        ),
        (
            {"tls": {**TLS, "minimumVersion": None, "profile": "RESTRICTED"}},
            '  llmd-gke:gateway.tls.profile = "RESTRICTED"\n'
            "    without minimumVersion there is no SSL policy, so this has no effect  [gateway-combination]\n"
            "    fix:     set tls.minimumVersion, or remove tls.profile",
        ),
    ],
)
def test_what_does_not_fit_is_refused(config: Config, refused: Refuse, gateway: object, message: str) -> None:
    config["llmd-gke:gateway"] = gateway
    result = refused(config)
    assert result.startswith(HEAD)
    assert result.endswith(message)


def test_two_wrong_things_give_two_messages(config: Config, refused: Refuse) -> None:
    config["llmd-gke:gateway"] = {"redirectHttp": True, "dnsZone": "example-com"}
    assert refused(config).startswith("Pulumi.eu4a.yaml has 2 problems:")


def test_a_certificate_of_ones_own_needs_its_two_secrets(config: Config, refused: Refuse) -> None:
    config["llmd-gke:gateway"] = {"tls": {"fromConfig": True}}
    result = refused(config, secrets=["llmd-gke:tlsCertificate"])
    assert result == (
        HEAD + "  llmd-gke:tlsKey\n"
        "    llmd-gke:gateway.tls.fromConfig requires it  [missing-secret]\n"
        "    fix:     pulumi config set --secret llmd-gke:tlsKey (then paste the private key in PEM format)"
    )


def test_plain_http_on_the_internet_is_a_warning_for_those_who_asked(
    config: Config, accepted: Callable[..., Checked]
) -> None:
    warnings = [describe(one) for one in accepted(config).warnings if one.finding.rule == "plain-http"]
    assert len(warnings) == 1


def test_a_front_door_may_face_the_internet(config: Config, accepted: Callable[..., Checked]) -> None:
    config["llmd-gke:gateway"] = {"exposure": "external", "tls": TLS}
    config["llmd-gke:frontDoor"] = {"callers": [{"name": "team-a"}]}
    assert accepted(config).settings.front_door is not None


def test_a_gateway_with_a_front_door_is_not_said_to_be_open_unless_paths_stay_beside_it(
    config: Config, refused: Refuse, accepted: Callable[..., Checked]
) -> None:
    config["llmd-gke:gateway"] = {"exposure": "external", "tls": TLS, "open": True}
    door: dict[str, object] = {"callers": [{"name": "team-a"}]}
    config["llmd-gke:frontDoor"] = door
    assert refused(config).endswith(
        "  llmd-gke:gateway.open = true\n"
        "    the front door authenticates callers, so this has no effect  [gateway-combination]\n"
        "    fix:     remove open"
    )
    door["keepPaths"] = True
    assert accepted(config).settings.gateway.open
