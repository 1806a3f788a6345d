"""What the edge's settings allow."""

from __future__ import annotations

from collections.abc import Callable

from llmd_gke.settings import Checked
from llmd_gke.settings.errors import describe
from tests.llmd_gke.settings.conftest import Config, Refuse

HEAD = "Pulumi.eu4a.yaml has 1 problem:\n\n"


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
