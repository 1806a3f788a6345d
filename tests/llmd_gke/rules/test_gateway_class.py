"""GatewayClasses: what GKE cannot do, and what a policy's configuration does not allow, are told apart."""

from __future__ import annotations

from llmd_gke.gateways.gke import REGIONAL_EXTERNAL, REGIONAL_INTERNAL
from llmd_gke.rules.gateway import gateway_class
from llmd_gke.rules.inputs import Input


def test_a_class_that_only_the_configuration_excludes_is_not_said_to_be_broken() -> None:
    (finding,) = gateway_class(Input(REGIONAL_EXTERNAL), [REGIONAL_INTERNAL])
    assert "is not among the classes that the policy's configuration allows" in finding.problem
    assert "503" not in finding.problem
    assert finding.allowed == REGIONAL_INTERNAL
    assert finding.fix == f"use {REGIONAL_INTERNAL} inside the VPC"


def test_the_fix_never_names_a_class_that_is_refused() -> None:
    (finding,) = gateway_class(Input("gke-l7-gxlb"), ["gke-l7-new"])
    assert REGIONAL_EXTERNAL not in finding.fix
    assert finding.fix == "use an allowed one, or allow the class in the policy's configuration"
