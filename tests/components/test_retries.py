"""How long the program waits for what GKE and KServe do by themselves, and for which errors it does not."""

from __future__ import annotations

import re

import pytest

from components.gateway_api import NOT_THERE_YET
from components.model_updates import NOT_TAKEN_YET
from components.retries import pause

NOT_FOUND = 'gatewayclasses.gateway.networking.k8s.io "gke-l7-rilb" not found'
NO_KIND = 'no matches for kind "GatewayClass" in version "gateway.networking.k8s.io/v1"'


NO_API = 'apiservices.apiregistration.k8s.io "v1.inference.networking.k8s.io" not found'
APPLIED = (
    'APIService.apiregistration.k8s.io "v1.inference.networking.k8s.io" is invalid: '
    "[spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000, "
    "spec.versionPriority: Invalid value: 0: must be positive and less than 1000]"
)
CONFLICT = (
    'The resource managed by field manager "pulumi-kubernetes-1" had an apply conflict: Apply failed with 1 conflict: '
    'conflict with "manager" using apps/v1: .spec.template.metadata.annotations.llmd-gke/runtime'
)
ABSENT = 'Deployment.apps "qwen-kserve" is invalid: spec.template.spec.containers: Required value'


FAILED = "'qwen-kserve' timed out waiting to be Ready\nfile not found"


@pytest.mark.parametrize(
    ("operation", "errors", "passing", "again"),
    [
        *(("create", [error], NOT_THERE_YET, True) for error in (NOT_FOUND, NO_KIND, NO_KIND.upper(), NO_API, APPLIED)),
        *(("create", [error], NOT_TAKEN_YET, True) for error in (CONFLICT, ABSENT)),
        ("create", [FAILED], NOT_TAKEN_YET, False),
        *(("create", [one, NOT_FOUND], NOT_THERE_YET, False) for one in ("forbidden", "connection refused", "")),
        *((operation, [NOT_FOUND], NOT_THERE_YET, False) for operation in ("update", "delete")),
    ],
)
def test_only_a_creation_is_tried_again_and_only_while_what_it_needs_is_not_there(
    operation: str, errors: list[str], passing: re.Pattern[str], again: bool
) -> None:
    assert (pause(operation, errors, passing) is not None) is again


def test_the_wait_begins_short_and_ends_after_three_quarters_of_an_hour_within_the_engines_hundred_attempts() -> None:
    pauses: list[int] = []
    while (result := pause("create", [NOT_FOUND] * (len(pauses) + 1), NOT_THERE_YET)) is not None:
        pauses.append(result)
    assert pauses == sorted(pauses)
    assert (pauses[0] <= 5, pauses[-1]) == (True, 30)
    assert len(pauses) < 100
    assert 43 * 60 < sum(pauses) <= 45 * 60
