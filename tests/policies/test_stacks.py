"""The shipped stacks pass their own pack."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies.groups import GROUPS
from policies.pack import Analyzer
from tests.components.conftest import WITHOUT_DOOR
from tests.graphs import load
from tests.policies.conftest import InStack
from tests.policies.support import recorded, run_pack

ROOT = Path(__file__).parents[2]
STACKS = sorted(file.name.split(".")[1] for file in ROOT.glob("Pulumi.*.yaml"))

ACROSS_HOSTS = {
    "llmd-gke:pools": [
        {"name": "v6e16", "machineType": "ct6e-standard-4t", "topology": "4x4", "maxNodes": 4, "diskGb": 200}
    ],
    "llmd-gke:models": [{"name": "big", "uri": "hf://Qwen/Qwen3-32B", "pool": "v6e16", "experimentalMultiHost": True}],
}


def test_downloads_through_a_proxy_raise_no_alarm(in_stack: InStack) -> None:
    in_stack("eu4a")
    egress = {"mode": "proxy", "proxy": "http://10.1.2.3:3128"}
    diagnostics = run_pack(recorded(load(ROOT, "eu4a", preview=True, changes={"llmd-gke:network": {"egress": egress}})))
    assert [one for one in diagnostics if one.level == "MANDATORY"] == []


def test_a_model_across_hosts_behind_a_front_door_raises_an_alarm_only_without_its_preset(in_stack: InStack) -> None:
    in_stack("eu4a")
    program = recorded(load(ROOT, "eu4a", preview=True, changes=ACROSS_HOSTS))
    assert {"models-workers-config", "front-door-gateway-helm"} <= {resource.name for resource in program}
    assert [one for one in run_pack(program) if one.urn.endswith("big-service")] == []
    diagnostics = run_pack([resource for resource in program if resource.name != "models-workers-config"])
    assert [one.policy for one in diagnostics if one.urn.endswith("big-service")] == ["pipeline-worker-config"]


@pytest.mark.parametrize(
    ("stack", "preview"), [*((stack, False) for stack in STACKS), ("door", True), ("local", True), ("prod", True)]
)
def test_a_shipped_stack_raises_no_alarm(stack: str, preview: bool, in_stack: InStack) -> None:
    in_stack(stack)
    program = recorded(load(ROOT, stack, preview=preview))
    assert len(program) > 40
    diagnostics = run_pack(program)
    assert [one for one in diagnostics if one.level == "MANDATORY"] == []
    assert [one for one in diagnostics if "can't run policy" in one.text] == []


def test_nothing_of_the_shipped_stacks_is_exposed(in_stack: InStack) -> None:
    """Not even as advice, and with the rules as they are in production."""
    exposure = [rule for group in GROUPS if group.slug == "exposure" for rule in group.rules]
    assert len(exposure) > 5
    in_stack("prod")
    for stack in STACKS:
        assert run_pack(recorded(load(ROOT, stack, preview=False)), Analyzer(exposure)) == []


WITH_SECRETS = {
    "llmd-gke:models": [
        {"name": "llama", "uri": "hf://meta-llama/Llama-3.1-8B-Instruct", "pool": "v6e4", "privateImage": True}
    ],
    "llmd-gke:hfToken": f"hf_{'a' * 34}",
    "llmd-gke:pullSecret": '{"auths": {"registry.example": {"auth": "YTpi"}}}',
}


def test_the_secrets_of_the_program_are_marked_as_secret(in_stack: InStack) -> None:
    in_stack("prod")
    program = recorded(load(ROOT, "eu4a", preview=False, changes={**WITHOUT_DOOR["eu4a"], **WITH_SECRETS}))
    secrets = [resource for resource in program if resource.type == "kubernetes:core/v1:Secret"]
    assert sum("stringData" in resource.inputs for resource in secrets) == 2, "Kubernetes fills the collectors' token"
    diagnostics = run_pack(program)
    assert [one for one in diagnostics if one.policy in ("plain-secret-value", "plain-secret")] == []
    assert not any("hf_aaa" in one.text or "YTpi" in one.text for one in diagnostics)
