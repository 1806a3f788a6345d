"""How long the program waits for what GKE and KServe do by themselves, and for which errors it does not."""

from __future__ import annotations

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


@pytest.mark.parametrize("error", [NOT_FOUND, NO_KIND, NO_KIND.upper(), NO_API, APPLIED])
def test_a_class_that_is_not_there_yet_is_asked_for_again(error: str) -> None:
    assert pause("create", [error], NOT_THERE_YET) is not None


@pytest.mark.parametrize("error", [CONFLICT, ABSENT])
def test_a_rollout_that_kserve_has_not_begun_is_waited_for(error: str) -> None:
    assert pause("create", [error], NOT_TAKEN_YET) is not None


def test_a_rollout_that_fails_ends_the_update() -> None:
    error = "'qwen-kserve' timed out waiting to be Ready\nfile not found"
    assert pause("create", [error], NOT_TAKEN_YET) is None


@pytest.mark.parametrize("error", ["forbidden: User cannot patch", "connection refused", ""])
def test_any_other_error_ends_the_update_at_once(error: str) -> None:
    assert pause("create", [error, NOT_FOUND], NOT_THERE_YET) is None


@pytest.mark.parametrize("operation", ["update", "delete"])
def test_only_a_creation_is_tried_again(operation: str) -> None:
    assert pause(operation, [NOT_FOUND], NOT_THERE_YET) is None


def test_the_wait_begins_short_and_ends_after_three_quarters_of_an_hour_within_the_engines_hundred_attempts() -> None:
    pauses: list[int] = []
    while (result := pause("create", [NOT_FOUND] * (len(pauses) + 1), NOT_THERE_YET)) is not None:
        pauses.append(result)
    assert pauses == sorted(pauses)
    assert (pauses[0] <= 5, pauses[-1]) == (True, 30)
    assert len(pauses) < 100
    assert 43 * 60 < sum(pauses) <= 45 * 60
