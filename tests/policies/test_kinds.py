"""Objects are judged whatever way they take into the program."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policies.rules.routes import ROUTE_TIMEOUTS
from tests.policies.support import Resource, judge, of, resources

ROUTE: dict[str, Any] = dict(resources(ROUTE_TIMEOUTS.bad)[0].inputs)
OLD_ROUTE = {**ROUTE, "apiVersion": "gateway.networking.k8s.io/v1beta1"}
BARE = {key: value for key, value in ROUTE.items() if key not in ("apiVersion", "kind")}


@pytest.mark.parametrize(
    ("type_", "inputs"),
    [
        ("kubernetes:gateway.networking.k8s.io/v1:HTTPRoute", ROUTE),
        ("kubernetes:gateway.networking.k8s.io/v1:HTTPRoute", BARE),
        ("kubernetes:gateway.networking.k8s.io/v1beta1:HTTPRoute", OLD_ROUTE),
        ("kubernetes:gateway.networking.k8s.io/v1:HTTPRoutePatch", ROUTE),
        ("kubernetes:gateway.networking.k8s.io/v1:HTTPRoutePatch", BARE),
        ("kubernetes:gateway.networking.k8s.io/v1:HTTPRouteList", {"items": [BARE]}),
        ("kubernetes:core/v1:List", {"apiVersion": "v1", "kind": "List", "items": [ROUTE]}),
        ("kubernetes:yaml/v2:ConfigGroup", {"objs": [ROUTE]}),
        ("kubernetes:yaml/v2:ConfigGroup", {"yaml": yaml.safe_dump_all([{"kind": "Other"}, ROUTE])}),
        ("kubernetes:yaml:ConfigGroup", {"objs": [ROUTE], "yaml": [yaml.safe_dump(OLD_ROUTE)]}),
        ("gateway:gateway/v1:HTTPRoute", ROUTE),
    ],
)
def test_a_route_with_timeouts_is_found(type_: str, inputs: dict[str, Any]) -> None:
    assert of(judge([Resource(type_, "route", inputs)]), "route-timeouts", "MANDATORY")


def test_a_bundle_of_text_that_is_no_yaml_is_left_to_the_provider() -> None:
    assert judge([Resource("kubernetes:yaml/v2:ConfigGroup", "bundle", {"yaml": "a: [", "files": ["*.yaml"]})]) == []


def test_a_patch_is_not_asked_for_what_it_leaves_out() -> None:
    patch = {"metadata": {"name": "x"}, "spec": {"default": {"timeoutSec": 5}}}
    assert judge([Resource("kubernetes:networking.gke.io/v1:HealthCheckPolicyPatch", "patch", patch)]) == []


def test_a_route_of_a_mesh_is_not_judged() -> None:
    mesh = {**ROUTE, "spec": {**ROUTE["spec"], "parentRefs": [{"kind": "Service", "group": "", "name": "web"}]}}
    assert of(judge([Resource("kubernetes:gateway.networking.k8s.io/v1:HTTPRoute", "r", mesh)]), "route-timeouts") == []


def test_a_custom_resource_definition_of_megabytes_is_not_read_in_whole() -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "inferencepools.inference.networking.k8s.io"},
        "spec": "never looked at",
    }
    said = judge([Resource("kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition", "crd", crd)])
    assert [one.policy for one in said] == ["crd-ownership"]


def test_a_patch_that_only_waits_for_a_crd_of_gke_does_not_own_it() -> None:
    kind = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
    waits = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "inferencepools.inference.networking.k8s.io",
            "annotations": {"pulumi.com/waitFor": "condition=Established"},
        },
    }
    assert judge([Resource(f"{kind}Patch", "patch", waits)]) == []
    assert of(judge([Resource(kind, "own", waits)]), "crd-ownership", "MANDATORY")
