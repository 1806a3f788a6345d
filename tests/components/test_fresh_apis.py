"""How long the program waits for an API that it has just switched on, and for which errors it does not."""

from __future__ import annotations

import pytest

from components.fresh_apis import OFF as TOO_EARLY
from components.fresh_apis import PAUSES
from components.retries import pause
from llmd_gke.graph.resources import ResourceNode
from tests.components.variants import variant

OFF = (
    "googleapi: Error 403: Compute Engine API has not been used in project 1 before or it is disabled. "
    "Enable it by visiting the console, then retry. accessNotConfigured"
)
DETAILS = '"reason": "SERVICE_DISABLED", "service": "container.googleapis.com"'


SERVICE_USAGE = OFF.replace("Compute Engine", "Service Usage").replace(
    "the console", "https://console.developers.google.com/apis/api/serviceusage.googleapis.com/overview?project=1"
)


@pytest.mark.parametrize(
    ("error", "asked_again"),
    [
        (OFF, True),
        (DETAILS, True),
        (f"Error when reading or editing Project Service p/serviceusage.googleapis.com: {OFF}", True),
        ("Error 403: Required 'compute.networks.create' permission", False),
        ("quota exceeded", False),
        ("", False),
        # The program cannot switch that on.
        (SERVICE_USAGE, False),
        ('"reason": "SERVICE_DISABLED", "metadata": {"service": "serviceusage.googleapis.com"}', False),
    ],
)
def test_only_an_api_that_google_does_not_know_to_be_on_yet_is_asked_again(error: str, asked_again: bool) -> None:
    assert bool(TOO_EARLY.search(error.lower())) is asked_again


def test_it_is_given_up_after_five_minutes() -> None:
    assert pause("create", [OFF] * 20, TOO_EARLY, PAUSES) == 15
    assert pause("create", [OFF] * 21, TOO_EARLY, PAUSES) is None
    assert sum(PAUSES) == 300


def test_every_resource_that_may_be_the_first_of_its_api_is_tried_again() -> None:
    def api(node: ResourceNode) -> str:
        return node.type.partition("/")[0]

    graph = variant("storage")
    google = [node for node in graph.nodes.values() if node.type.startswith("gcp:") and node.custom]
    first = [
        node
        for node in google
        if "projects/service" not in node.type
        and "bucketIAMMember" not in node.type  # needs the cluster, ten minutes after the API was switched on
        and not any(
            api(graph.nodes[urn]) == api(node) and "projects/service" not in graph.nodes[urn].type
            for urn in graph.before(node)
            if urn in graph.nodes
        )
    ]
    assert {"gcp:billing", "gcp:storage", "gcp:monitoring", "gcp:projects", "gcp:compute"} <= set(map(api, first))
    assert [node.urn for node in first if not node.tried_again] == []
