"""Objects are judged whatever way they take into the program."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policies.rules.routes.routes import ROUTE_TIMEOUTS
from tests.policies.support import Resource, of, resources, run_pack

ROUTE: dict[str, Any] = dict(resources(ROUTE_TIMEOUTS.examples.refused[0])[0].inputs)
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
    assert of(run_pack([Resource(type_, "route", inputs)]), "route-timeouts", "MANDATORY")


def test_a_document_that_is_no_yaml_is_said_and_hides_no_other() -> None:
    text = f"a: [\n---\n{yaml.safe_dump(ROUTE)}\n---\nb: !!python/object:os.system [\n"
    diagnostics = run_pack([Resource("kubernetes:yaml/v2:ConfigGroup", "bundle", {"yaml": text, "files": ["*.yaml"]})])
    assert of(diagnostics, "route-timeouts", "MANDATORY")
    doubts = of(diagnostics, "unreadable-manifest", "ADVISORY")
    assert [doubt.text.partition("document ")[2].split(" ")[0] for doubt in doubts] == ["1", "3"]


def test_a_few_lines_that_stand_for_millions_of_values_are_not_read() -> None:
    levels = [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 12)]
    text = "\n".join(["a0: &a0 [x]", *levels])
    diagnostics = run_pack([Resource("kubernetes:yaml/v2:ConfigGroup", "bundle", {"yaml": text})])
    assert [one.policy for one in diagnostics] == ["unreadable-manifest"]


def test_a_patch_is_not_asked_for_what_it_leaves_out() -> None:
    patch = {"metadata": {"name": "x"}, "spec": {"default": {"timeoutSec": 5}}}
    assert run_pack([Resource("kubernetes:networking.gke.io/v1:HealthCheckPolicyPatch", "patch", patch)]) == []


def test_a_route_of_a_mesh_is_not_judged() -> None:
    mesh = {**ROUTE, "spec": {**ROUTE["spec"], "parentRefs": [{"kind": "Service", "group": "", "name": "web"}]}}
    assert (
        of(run_pack([Resource("kubernetes:gateway.networking.k8s.io/v1:HTTPRoute", "r", mesh)]), "route-timeouts") == []
    )


def test_a_custom_resource_definition_of_megabytes_is_not_read_in_whole() -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "inferencepools.inference.networking.k8s.io"},
        "spec": "never looked at",
    }
    diagnostics = run_pack([Resource("kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition", "crd", crd)])
    assert [one.policy for one in diagnostics] == ["crd-ownership"]


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
    assert run_pack([Resource(f"{kind}Patch", "patch", waits)]) == []
    assert of(run_pack([Resource(kind, "own", waits)]), "crd-ownership", "MANDATORY")
