"""The Google stand-in of a laptop cloud: its cluster is the control plane that runs there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Standin

KIND = "gcp:container/cluster:Cluster"
FACTS = {
    "endpoint": "172.16.0.2",
    "dnsEndpoint": "gke-laptop.europe-west4.gke.goog",
    "caCertificate": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
    "servicesIpv4Cidr": "10.96.0.0/16",
    "clusterIpv4Cidr": "10.244.0.0/16",
}


CLUSTER = {
    "name": "gke",
    "location": "europe-west4",
    "network": "vpc",
    "subnetwork": "nodes",
    "initialNodeCount": 1,
    "removeDefaultNodePool": True,
    "deletionProtection": False,
}


def runs(laptop_home: Path, **over: str) -> None:
    (laptop_home / "cluster" / "laptop.json").write_text(json.dumps(FACTS | over))


def test_a_second_cluster_is_refused_with_the_first_ones_name(laptop_google: Standin, laptop_home: Path) -> None:
    runs(laptop_home)
    laptop_google.create(KIND, CLUSTER)
    with pytest.raises(Exception, match=r"one control plane, which projects/rehearsal/.*/clusters/gke already uses"):
        laptop_google.create(KIND, CLUSTER | {"name": "second"})


def test_without_a_running_control_plane_no_cluster_is_made_and_the_fix_is_named(laptop_google: Standin) -> None:
    with pytest.raises(Exception, match=r"laptop\.json.*make up CLOUD=laptop"):
        laptop_google.create(KIND, CLUSTER)


def test_a_description_without_an_endpoint_is_refused(laptop_google: Standin, laptop_home: Path) -> None:
    runs(laptop_home, endpoint="")
    with pytest.raises(Exception, match="does not contain endpoint"):
        laptop_google.create(KIND, CLUSTER)
