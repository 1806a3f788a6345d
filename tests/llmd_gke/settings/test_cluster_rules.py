"""The cluster's options. Each rule with its whole message."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as some

from llmd_gke.rules import maintenance
from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config, Refuse

Accept = Callable[..., Checked]
HEAD = "Pulumi.eu4a.yaml has 1 problem:\n\n"
KEY = "projects/p/locations/{}/keyRings/r/cryptoKeys/k"


def exclusion(**over: object) -> dict[str, object]:
    return {"maintenance": {"exclusions": [{"name": "holidays", "start": "2026-12-18", **over}]}}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"labels": {"Team": "a"}},
            '.labels.Team = "a"\n    Team=a is not a valid Google Cloud label  [label]\n'
            "    allowed: at most 63 lower-case letters, digits, dashes and underscores for name and value; the "
            "name starts with a letter\n    fix:     for example team",
        ),
        (
            {"labels": {"goog-x": "a"}},
            '.labels.goog-x = "a"\n    label goog-x: names that start with goog are reserved by Google  [label]\n'
            "    fix:     choose another name",
        ),
        (
            {"systemZone": "us-east1-b"},
            '.systemZone = "us-east1-b"\n'
            "    us-east1-b cannot host the non-TPU nodes of a cluster in europe-west4  [system-zone]\n"
            "    allowed: a zone in europe-west4 that is not an AI zone\n"
            "    fix:     for example europe-west4-a, or remove it",
        ),
        (
            {"systemPool": {"machineType": "ct6e-standard-4t"}},
            '.systemPool.machineType = "ct6e-standard-4t"\n'
            "    ct6e-standard-4t is a TPU host: GKE's system pods, controllers and endpoint pickers cannot run there  "
            "[system-pool]\n    allowed: a machine type without TPU\n    fix:     for example e2-standard-4",
        ),
        (
            {"systemPool": {"machineType": "n4-standard-4"}},
            '.systemPool.diskType = "pd-balanced"\n'
            "    disk type pd-balanced cannot be attached to n4-standard-4  [system-pool]\n"
            "    allowed: hyperdisk-balanced\n    fix:     set the disk type to hyperdisk-balanced",
        ),
        (
            {"systemPool": {"diskType": "hyperdisk-balanced"}},
            '.systemPool.diskType = "hyperdisk-balanced"\n'
            "    disk type hyperdisk-balanced cannot be attached to e2-standard-4  [system-pool]\n"
            "    allowed: pd-balanced\n    fix:     set the disk type to pd-balanced",
        ),
        (
            {"endpoint": "ip", "authorizedNetworks": {"all": "0.0.0.0/0"}},
            '.authorizedNetworks.all = "0.0.0.0/0"\n'
            "    the control plane would be open to 0.0.0.0/0, a large part of the Internet  [control-plane-access]\n"
            "    allowed: the ranges of your offices and runners (/8 or narrower), or endpoint: dns, which IAM "
            "protects\n"
            "    fix:     pulumi config set --path llmd-gke:cluster.endpoint dns",
        ),
        (
            {"encryption": {"database": "my-key"}},
            ".encryption.database = \"my-key\"\n    'my-key' is not the name of a Cloud KMS key  [kms-key]\n"
            "    allowed: projects/PROJECT/locations/europe-west4/keyRings/RING/cryptoKeys/KEY\n"
            "    fix:     copy its full name",
        ),
        (
            {"encryption": {"database": KEY.format("global")}},
            '.encryption.database = "projects/p/locations/global/keyRings/r/cryptoKeys/k"\n'
            "    the key is in global, but the cluster is in europe-west4  [kms-key]\n"
            "    allowed: europe-west4\n    fix:     create a key in europe-west4",
        ),
        (
            {"encryption": {"disks": KEY.format("us-east1")}},
            '.encryption.disks = "projects/p/locations/us-east1/keyRings/r/cryptoKeys/k"\n'
            "    the key is in us-east1, but the cluster is in europe-west4  [kms-key]\n"
            "    allowed: europe-west4 or global\n    fix:     create a key in europe-west4",
        ),
        (
            {"maintenance": {"days": ["SU"], "hours": 6}},
            ".maintenance.hours = 6\n"
            "    1 times 6 hours a week give 24 hours in 32 days, but GKE requires 48  [maintenance-window]\n"
            "    allowed: at least 12 as days times hours\n    fix:     set hours to 12, or list more days",
        ),
        (
            exclusion(end="2026-12-18"),
            '.maintenance.exclusions[0] = {"name": "holidays", "start": "2026-12-18", "end": "2026-12-18", '
            '"scope": "NO_MINOR_OR_NODE_UPGRADES"}\n'
            "    the end, 2026-12-18, is not after the start, 2026-12-18  [maintenance-exclusion]\n"
            "    fix:     swap start and end",
        ),
        (
            exclusion(start="20261218"),
            '.maintenance.exclusions[0] = {"name": "holidays", "start": "20261218", '
            '"scope": "NO_MINOR_OR_NODE_UPGRADES"}\n'
            "    20261218 is not a date  [maintenance-exclusion]\n"
            "    allowed: YYYY-MM-DD, in UTC\n    fix:     for example '2026-12-18'",
        ),
        (
            exclusion(scope="NO_UPGRADES"),
            '.maintenance.exclusions[0] = {"name": "holidays", "start": "2026-12-18", "scope": "NO_UPGRADES"}\n'
            "    NO_UPGRADES needs an end: only minor upgrades can be excluded until the end of support  "
            "[maintenance-exclusion]\n"
            "    allowed: an end, or scope NO_MINOR_UPGRADES or NO_MINOR_OR_NODE_UPGRADES\n    fix:     add an end",
        ),
        (
            {"maintenance": {"exclusions": [{"name": "a", "start": "2026-12-18"}] * 2}},
            '.maintenance.exclusions = ["a", "a"]\n'
            "    two exclusions have the name a  [maintenance-exclusion]\n    fix:     give each exclusion a "
            "unique name",
        ),
    ],
)
def test_an_option_that_cannot_hold_is_refused(
    config: Config, refused: Refuse, options: dict[str, object], message: str
) -> None:
    config["llmd-gke:cluster"].update(options)
    assert refused(config) == f"{HEAD}  llmd-gke:cluster{message}"


def test_a_long_time_without_upgrades_is_a_warning(config: Config, accepted: Accept) -> None:
    config["llmd-gke:cluster"].update(exclusion(end="2027-01-18", scope="NO_UPGRADES"))
    (warning,) = (warned for warned in accepted(config).warnings if warned.finding.rule == "maintenance-exclusion")
    assert warning.finding.problem == "NO_UPGRADES for 31 days: GKE requires 48 hours of maintenance in 32 days"


def test_more_than_twenty_exclusions_are_refused() -> None:
    assert list(maintenance.exclusions([str(number) for number in range(20)])) == []
    (finding,) = maintenance.exclusions([str(number) for number in range(21)])
    assert finding.allowed == "at most 20"


@given(some.lists(some.sampled_from(["MO", "TU", "SA", "SU"]), min_size=1, max_size=4), some.integers(4, 24))
def test_a_window_is_accepted_exactly_if_gke_gets_its_48_hours(days: list[str], hours: int) -> None:
    assert (list(maintenance.window(days, hours)) == []) == (len(set(days)) * hours >= 12)


@pytest.mark.parametrize(
    ("key", "value"), [("start", "2:00"), ("start", "24:00"), ("hours", 3), ("days", []), ("days", ["Sunday"])]
)
def test_a_window_that_is_none_is_refused(config: Config, refused: Refuse, key: str, value: object) -> None:
    config["llmd-gke:cluster"]["maintenance"] = {key: value}
    assert f"llmd-gke:cluster.maintenance.{key}" in refused(config)


def test_maintenance_by_its_defaults_is_accepted(config: Config, accepted: Accept) -> None:
    config["llmd-gke:cluster"]["maintenance"] = {}
    assert accepted(config)


def test_a_misshapen_zone_does_not_make_keys_and_zones_wrong(config: Config, refused: Refuse) -> None:
    config["llmd-gke:cluster"].update(zone=7, systemZone="us-east1-b", encryption={"database": KEY.format("us-east1")})
    assert refused(config).startswith(f"{HEAD}  llmd-gke:cluster.zone = 7")


@pytest.mark.parametrize(
    "networks",
    [{"a": "0.0.0.0/1", "b": "128.0.0.0/1"}, {"a": "8.0.0.0/7"}, {"a": "10.0.0.0/8", "b": "11.0.0.0/8"}],
)
@pytest.mark.parametrize("endpoint", ["ip", "private"])
def test_networks_that_are_a_large_part_of_the_internet_are_refused_however_they_are_written(
    config: Config, refused: Refuse, networks: dict[str, str], endpoint: str
) -> None:
    config["llmd-gke:cluster"].update(endpoint=endpoint, authorizedNetworks=networks)
    assert "a large part of the Internet  [control-plane-access]" in refused(config)


def test_a_private_endpoint_goes_with_private_nodes(config: Config, refused: Refuse) -> None:
    config["llmd-gke:cluster"].update(endpoint="private", privateNodes=False)
    assert "a control plane without a public address requires nodes without public addresses" in refused(config)
