"""Types of the front door's resources, and how a test looks one up."""

from __future__ import annotations

from llmd_gke.catalog import front_door
from llmd_gke.graph.recording import Graph, ResourceNode
from tests.components.kinds import metadata, of

ROUTE = f"kubernetes:{front_door.AI_VERSION}:AIGatewayRoute"
SECURITY = f"kubernetes:{front_door.GATEWAY_VERSION}:SecurityPolicy"
TRAFFIC = f"kubernetes:{front_door.GATEWAY_VERSION}:BackendTrafficPolicy"
OBJECTIVE = f"kubernetes:{front_door.OBJECTIVE_VERSION}:InferenceObjective"
COMPONENT = "llmd-gke:front-door:FrontDoor"


def the(graph: Graph, type_: str, name: str) -> ResourceNode:
    (node,) = [node for node in of(type_)(graph) if metadata(node, "name") == name]
    return node
