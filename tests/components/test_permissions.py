"""What the caller must be able to do follows from what the graphs hold."""

from __future__ import annotations

import pytest

from llmd_gke.catalog import deployer, permissions
from llmd_gke.graph.recording import Graph


def types(graph: Graph) -> set[str]:
    return {node.type for node in graph.nodes.values()}


def test_every_type_of_a_graph_has_its_permissions_also_to_destroy_it_and_no_other(graph: Graph) -> None:
    needed = permissions.needed(types(graph))
    assert "compute.networks.create" not in permissions.needed(types(graph) - {"gcp:compute/network:Network"})
    assert {
        "container.clusters.connect",
        "container.clusterRoles.escalate",
        "container.clusterRoles.bind",
        "container.customResourceDefinitions.create",
        "container.thirdPartyObjects.create",
        "container.networkPolicies.create",
        "compute.subnetworks.use",
        "compute.networks.updatePolicy",
        "container.clusters.delete",
        "container.namespaces.delete",
        "compute.networks.delete",
        "iam.serviceAccounts.delete",
    } <= set(needed)


def test_every_google_type_of_the_program_is_known_and_no_other_is() -> None:
    assert deployer.BY_TYPE.keys() | deployer.BY_ROLE.keys() == permissions.GOOGLE.keys()
    with pytest.raises(KeyError):
        permissions.needed(["gcp:sql/databaseInstance:DatabaseInstance"])
