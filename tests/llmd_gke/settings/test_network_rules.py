"""An existing VPC, and a shared one. Each rule with its whole message."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config, Refuse

Accept = Callable[..., Checked]
HEAD = "Pulumi.eu4a.yaml has 1 problem:\n\n"
EXISTING = {"network": "corp", "subnet": "gke"}
SHARED = {**EXISTING, "hostProject": "host-project"}


@pytest.mark.parametrize(
    "existing",
    [EXISTING, SHARED, {**EXISTING, "podsRange": "a", "servicesRange": "b", "proxies": "create", "nat": "create"}],
)
def test_an_existing_network_is_accepted(config: Config, accepted: Accept, existing: dict[str, str]) -> None:
    config["llmd-gke:network"] = {"proxies": "10.20.0.0/23", "existing": existing}
    assert accepted(config).settings.network.existing is not None


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (
            {"existing": EXISTING},
            ".proxies\n"
            "    the range of the VPC's proxy-only subnet is required: NetworkPolicies admit requests only from it  "
            "[network-existing]\n"
            "    allowed: the ipCidrRange of the subnet with purpose REGIONAL_MANAGED_PROXY in the region\n"
            "    fix:     gcloud compute networks subnets list --filter purpose=REGIONAL_MANAGED_PROXY --project "
            "my-project",
        ),
        (
            {"existing": EXISTING, "proxies": "10.20.0.0/23", "pods": "10.4.0.0/14"},
            '.pods = "10.4.0.0/14"\n    the ranges of the existing subnet gke cannot be set here  [network-existing]\n'
            "    allowed: existing.podsRange and existing.servicesRange, the names of its secondary ranges\n"
            "    fix:     remove pods",
        ),
        (
            {"existing": {**EXISTING, "servicesRange": "pods"}, "proxies": "10.20.0.0/23"},
            '.existing.servicesRange = "pods"\n    pods and Services need separate ranges  [network-existing]\n'
            "    fix:     set two different secondary ranges",
        ),
        (
            {"existing": {**EXISTING, "hostProject": "my-project"}, "proxies": "10.20.0.0/23"},
            '.existing.hostProject = "my-project"\n'
            "    the VPC is in the stack's own project  [network-shared-vpc]\n    fix:     remove hostProject",
        ),
        (
            {"existing": {**EXISTING, "hostProject": "X"}, "proxies": "10.20.0.0/23"},
            ".existing.hostProject = \"X\"\n    'X' is not a Google Cloud project ID  [project-id]\n"
            "    allowed: 6 to 30 lower-case letters, digits and dashes, starting with a letter\n"
            "    fix:     set the ID of the project that shares the VPC",
        ),
        *(
            (
                {"existing": {**SHARED, what: "create"}, "proxies": "10.20.0.0/23"},
                f'.existing.{what} = "create"\n'
                "    the program creates nothing in the host project host-project, whose network is managed elsewhere  "
                "[network-shared-vpc]\n    allowed: existing\n"
                "    fix:     ask the administrators of host-project to create it, and set existing",
            )
            for what in ("proxies", "nat")
        ),
        (
            {"existing": {**EXISTING, "network": "Corp"}, "proxies": "10.20.0.0/23"},
            ".existing.network = \"Corp\"\n    'Corp' is not a valid name  [name-characters]\n"
            "    allowed: lower-case letters, digits and dashes; starts with a letter, does not end with a dash\n"
            "    fix:     for example corp",
        ),
        (
            {"proxies": "10.9.0.0/27"},
            '.proxies = "10.9.0.0/27"\n    10.9.0.0/27 is too small for the region\'s Envoys  [proxy-subnet]\n'
            "    allowed: /26 or larger\n    fix:     use a /23",
        ),
    ],
)
def test_a_network_that_cannot_be_used_is_refused(
    config: Config, refused: Refuse, network: dict[str, object], message: str
) -> None:
    config["llmd-gke:network"] = network
    assert refused(config) == f"{HEAD}  llmd-gke:network{message}"


@pytest.mark.parametrize(("cidr", "addresses"), [("10.0.0.0/32", 1), ("10.0.0.0/30", 4)])
def test_nodes_need_a_range_that_a_subnet_can_have(
    config: Config, refused: Refuse, accepted: Accept, cidr: str, addresses: int
) -> None:
    config["llmd-gke:network"] = {"nodes": cidr}
    assert refused(config) == (
        f'{HEAD}  llmd-gke:network.nodes = "{cidr}"\n'
        f"    {cidr} has {addresses} addresses, and Google reserves four in each subnet  [node-range]\n"
        "    allowed: /29 or larger, such as a /20\n"
        "    fix:     nodes: 10.0.0.0/20"
    )
    config["llmd-gke:network"] = {"nodes": "10.0.0.0/29"}
    assert accepted(config).settings.network.nodes == "10.0.0.0/29"
