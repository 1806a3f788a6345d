"""Recorded exchanges, sent to the emulator: the same statuses, properties and values."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from llmd_common.problems import SetUpFailed
from localcloud.go_builds import modules
from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.server import Emulator
from localcloud.providers.protocol.values import JsonObject
from localcloud.tests.published_provider import differences, recordings

SUM = "h1:Fdlby27Fr0/0rzOZ2AKPcYejA6GrCYycz0gFHL1Qvns="
"""The module's hash: the checksum database does not know it."""

CLUSTERS = (
    "addon", "datacache", "defaultcomputeclassconfig", "dnsendpoint-ipendpoint",
    "dnsendpoint-noipendpoint", "enablek8stokensviadns", "maintenancepolicy", "minimal", "private-masteripv4cidr",
    "private-privateendpointsubnetwork",
)  # fmt: skip
BASIC: dict[str, tuple[str, ...]] = {
    "compute/v1beta1": ("computesslpolicy",),
    "compute/v1beta1/computeaddress": ("regionalcomputeaddress",),
    "compute/v1beta1/computenetwork": ("computenetworkautocreatesubnets", "computenetworkbasic"),
    "compute/v1beta1/computesslcertificate": ("regionalcomputesslcertificate",),
    "compute/v1beta1/computesubnetwork": ("computesubnetwork",),
    "container/v1beta1/containercluster": tuple(f"containercluster-{name}" for name in CLUSTERS),
    "container/v1beta1/containernodepool": (
        "containernodepool",
        "containernodepool-advanced-machine-features",
        "containernodepool-datacache",
        "containernodepool-subnetworkref",
    ),
    "iam/v1beta1/iamserviceaccount": ("iamserviceaccount", "iamserviceaccount-full"),
    "monitoring/v1beta1/monitoringnotificationchannel": ("monitoringnotificationchannel",),
    "monitoring/v1beta1/monitoringuptimecheckconfig": ("httpuptimecheckconfig",),
    "storage/v1beta1/storagebucket": ("storagebucketbasic", "storagebucketsoftdelete", "storagebucketzero"),
}
"""Recordings of our resource types, each a folder of one file. Left out are those with other services (KMS keys that
are made, Pub/Sub, global addresses and certificates), those with settings that the emulator answers with 501
(additional ranges, network tags, a disabled account), those recorded in pieces (``containercluster-dataplanev2``),
``directives/removedefaultnodepool``, whose mock shows the nodes of a pool that was deleted, alerting policies (three
channels of theirs have one name in the recording) and dashboards (their enums were sent as numbers).

In 846 recordings there is no router, NAT, firewall, resource policy or record set: of these only the provider's own
requests (``test_stacks.py``) and Google's discovery documents judge the emulator."""

SCENARIOS = ("iam/iampolicy", "iam/iampartialpolicy")
"""Recordings in several files: service accounts, roles on a project, an API that is enabled."""

REPLAYED = [
    *(f"{recordings.FOLDER}/{folder}/{name}" for folder, names in BASIC.items() for name in names),
    *(f"{recordings.SCENARIOS}/{name}" for name in SCENARIOS),
]

OLDER_NETWORK = [name for name in REPLAYED if name.endswith("/regionalcomputeaddress")]
"""Recordings that begin with a network and a subnet which are there already."""

NOT_SENT = {
    "* cloudbilling.googleapis.com/*": "another service",
    "* cloudresourcemanager.googleapis.com/v1/operations/*": "every project is there: none is made",
    "* cloudresourcemanager.googleapis.com/v1/projects": "none is made",
    "* cloudresourcemanager.googleapis.com/v1/projects/iampartialpolicy-dep-project": "none is made",
    "* serviceusage.googleapis.com/v1beta1/*": "v1beta1, which neither the provider nor the program asks",
    "* compute.googleapis.com/compute/v1/projects/iampartialpolicy-dep-project/*": "comes with a project",
    "* */instanceGroupManagers/*": "k8s-config-connector rewrites their names, which hold a hash",
}
"""Exchanges that are left out, as patterns of method and path, with the reason."""


@pytest.fixture(scope="session")
def recorded() -> Path:
    """The recordings' folder in the module cache."""
    environment = {**os.environ, "GONOSUMDB": recordings.MODULE}
    try:
        module = modules.folder(recordings.MODULE, recordings.VERSION, environment)
    except SetUpFailed as error:
        pytest.skip(str(error))
    name = modules.escaped(recordings.MODULE)
    cache = next(parent for parent in module.parents if (parent / "cache" / "download").is_dir()) / "cache" / "download"
    assert (cache / name / "@v" / f"{recordings.VERSION}.ziphash").read_text().strip() == SUM
    return module


def prepared(folder: Path, name: str) -> Emulator:
    """A project with every API and subnets of a default network; some recordings begin with a network of their own."""
    emulator = Emulator(EmulatedCloud(folder))
    subnets: JsonObject = {
        f"projects/my-project/regions/{region}/subnetworks/default": {"network": "default"}
        for region in ("us-central1", "us-east1", "us-west1", "us-west2")
    }
    faults: JsonObject = {"fault": "world", "enabledApis": ["*"], "existingSubnets": subnets}
    with emulator.cloud.opened():
        emulator.cloud.faults.set([faults])
    if name in OLDER_NETWORK:
        compute = "compute.googleapis.com/compute/v1/projects/my-project"
        network: JsonObject = {"name": "subnetworkid", "description": "Default network for the project"}
        subnet: JsonObject = {
            "name": "subnetworkid",
            "network": "projects/my-project/global/networks/subnetworkid",
            "ipCidrRange": "10.128.0.0/20",
        }
        assert emulator.answer("POST", f"{compute}/global/networks", {}, network)[0] == 200
        assert emulator.answer("POST", f"{compute}/regions/us-central1/subnetworks", {}, subnet)[0] == 200
    return emulator


def sent(one: recordings.Exchange) -> bool:
    return not any(fnmatchcase(one.label, pattern) for pattern in NOT_SENT)


def begins(table: Mapping[str, str], path: str) -> bool:
    return any(path == one or path.startswith(f"{one}.") for one in table)


def compared(
    recorded: Path, folder: Path, name: str
) -> Iterator[tuple[set[str], set[str], dict[str, tuple[str, str]]]]:
    """How each answer differs from what was recorded; operations tell the emulator's own progress."""
    exchanges = [one for one in recordings.of(recorded / name) if sent(one)]
    assert exchanges
    for one, status, answer in recordings.replay(exchanges, prepared(folder, name)):
        assert status == one.status, f"{one.label}: {answer}"
        if status == 200 and not recordings.operation(one):
            yield recordings.differences(one, answer)


@pytest.mark.parametrize("name", REPLAYED)
def test_a_recorded_exchange_is_answered_as_it_was(recorded: Path, tmp_path: Path, name: str) -> None:
    """The same statuses, the same properties, the same values; what differs is listed with a reason."""
    answers = list(compared(recorded, tmp_path, name))
    assert answers
    for absent, added, other in answers:
        assert [path for path in absent if not begins(differences.ABSENT, path)] == []
        assert [path for path in added if not begins(differences.ADDED, path)] == []
        assert {path: both for path, both in other.items() if not begins(differences.OTHER, path)} == {}


def test_every_listed_difference_is_one_that_a_recording_shows(recorded: Path, tmp_path: Path) -> None:
    """What was mended does not stay in the list, where it would hide the next difference."""
    seen: tuple[set[str], set[str], set[str]] = (set(), set(), set())
    for index, name in enumerate(REPLAYED):
        for difference in compared(recorded, tmp_path / str(index), name):
            for total, some in zip(seen, difference, strict=True):
                total.update(some)
    for table, total in zip((differences.ABSENT, differences.ADDED, differences.OTHER), seen, strict=True):
        assert [one for one in table if not any(begins({one: ""}, path) for path in total)] == []
