"""Recorded exchanges, sent to the emulator: the same statuses, and every property that was recorded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from llmd_gke.problems import SetUpFailed
from localcloud.go_builds import modules
from localcloud.google_api.core.cloud import Cloud
from localcloud.google_api.server import Emulator
from tests.published_provider import recordings

SUM = "h1:Fdlby27Fr0/0rzOZ2AKPcYejA6GrCYycz0gFHL1Qvns="
"""The module's hash: the checksum database does not know it."""

CLUSTERS = (
    "addon", "datacache", "defaultcomputeclassconfig", "dnsendpoint-ipendpoint",
    "dnsendpoint-noipendpoint", "enablek8stokensviadns", "maintenancepolicy", "minimal", "private-masteripv4cidr",
    "private-privateendpointsubnetwork",
)  # fmt: skip
REPLAYED = {
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
    "storage/v1beta1/storagebucket": ("storagebucketbasic", "storagebucketsoftdelete", "storagebucketzero"),
}
"""Recordings of our resource types. Left out are those with other services (KMS keys that are made, Pub/Sub, global
addresses and certificates), those with settings that the emulator answers with 501 (additional ranges, network tags, a
disabled account), and those recorded in pieces (``regionalcomputeaddress``, ``containercluster-dataplanev2``)."""

INSTANCE_GROUPS = "/instanceGroupManagers/"
"""Requests for them are not compared: k8s-config-connector rewrites their names, which hold a hash."""

ACCEPTED = {
    "clusterTelemetry": "in v1beta1 only; both versions show what v1 has",
    "protectConfig": "in v1beta1 only",
    "userManagedKeysConfig": "an empty block",
    "autoscaling.autoprovisioningNodePoolDefaults": "node auto-provisioning is not imitated",
    "privateCluster": "the older spelling of networkConfig.defaultEnablePrivateNodes",
    "privateClusterConfig": "the older spelling of controlPlaneEndpointsConfig, which the provider reads",
    "controlPlaneEndpointsConfig.ipEndpointsConfig.privateEndpoint": "an address where nothing listens",
    "controlPlaneEndpointsConfig.ipEndpointsConfig.publicEndpoint": "the same as endpoint",
    "controlPlaneEndpointsConfig.ipEndpointsConfig.authorizedNetworksConfig": "no default networks are shown",
    "masterAuthorizedNetworksConfig": "no default networks are shown",
    "maintenancePolicy.window.dailyMaintenanceWindow.duration": "computed from a window that the program does not use",
    "addonsConfig": "computed parts of add-ons that the program does not use",
    "subnetworks": "subnets that Google makes by itself are not imitated",
    "privateKey": "the mock shows a certificate's key; Google never does",
    "prefixes": "an empty list",
    "generation": "objects and their generations are not kept",
    "iamConfiguration": "defaults that no rule reads",
}
"""Properties, with all below them, that were recorded and that the emulator leaves out, each with the reason."""


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
    return module / recordings.FOLDER


def accepted(path: str) -> bool:
    return any(path == one or path.startswith(f"{one}.") for one in ACCEPTED)


@pytest.mark.parametrize(("folder", "name"), [(folder, name) for folder, names in REPLAYED.items() for name in names])
def test_a_recorded_exchange_is_answered_as_it_was(recorded: Path, tmp_path: Path, folder: str, name: str) -> None:
    emulator = Emulator(Cloud(tmp_path))
    subnets = {
        f"projects/my-project/regions/{region}/subnetworks/default": {"network": "default"}
        for region in ("us-central1", "us-east1", "us-west1", "us-west2")
    }
    faults = {"faults": [{"fault": "world", "enabledApis": ["*"], "existingSubnets": subnets}]}
    assert emulator.answer("PUT", "_emulator/faults", {}, faults)[0] == 200  # pyright: ignore[reportArgumentType] - JSON
    exchanges = list(recordings.read(recorded / folder / name / "_http.log"))
    assert exchanges
    statuses: list[str] = []
    absent: set[str] = set()
    for one, status, answer in recordings.replay(exchanges, emulator):
        if INSTANCE_GROUPS in one.path:
            continue
        if status != one.status:
            statuses.append(f"{one.label}: {one.status} was recorded, {status}: {answer}")
        elif status == 200 and one.http == "GET" and "/operations/" not in one.path:
            absent |= {path for path in recordings.paths(one.answer) - recordings.paths(answer) if not accepted(path)}
    assert statuses == []
    assert absent == set()
