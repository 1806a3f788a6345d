"""Ways around the rules for pods, charts, bundles and tokens: another place or spelling is judged all the same."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from tests.abbreviations import VARIANTS
from tests.policies.conftest import InStack
from tests.policies.registered import (
    GATEWAY,
    GATEWAY_TEXT,
    THING,
    bundle,
    held,
    pod,
    release,
    thing,
    values,
)
from tests.policies.support import Resource, of, run_pack, secret, text_asset

TOKENS = {
    "plain": {"apiVersion": GATEWAY["apiVersion"], "kind": "Gateway"},
    "secret kind": {"apiVersion": GATEWAY["apiVersion"], "kind": secret("Gateway")},
    "secret version": {"apiVersion": secret(GATEWAY["apiVersion"]), "kind": "Gateway"},
    "both secret": {"apiVersion": secret(GATEWAY["apiVersion"]), "kind": secret("Gateway")},
    "secret in a secret": {"apiVersion": secret(secret(GATEWAY["apiVersion"])), "kind": "Gateway"},
    "older version": {"apiVersion": secret("gateway.networking.k8s.io/v1beta1"), "kind": secret("Gateway")},
}


@pytest.mark.parametrize("written", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("token", [THING, "kubernetes:core/v1:ConfigMap", "gateway:gateway/v1:Thing"])
def test_a_lying_type_token_hides_nothing(written: dict[str, Any], token: str) -> None:
    assert of(run_pack([Resource(token, "g", {**GATEWAY, **written})]), "gateway-class", "MANDATORY")


WRITTEN = ["--served-model-name", "qwen", "--port", "8000", "--tensor-parallel-size", "4"]
OWN_RULES = {"--api-key": "plain-secret", "--hf-token": "plain-secret", "--tensor-parallel-size": "tpu-parallelism"}


def test_short_arguments_of_servers_count_as_those_that_they_are() -> None:
    for name, argv in VARIANTS:
        for fields in (
            {"args": [*WRITTEN, *argv]},
            {"args": WRITTEN, "env": [{"name": "VLLM_ADDITIONAL_ARGS", "value": shlex.join(argv)}]},
        ):
            diagnostics = run_pack([thing("Pod", "v1", spec=pod(**fields))])
            assert of(diagnostics, OWN_RULES.get(name, "tpu-server-argument"), "MANDATORY"), argv


def test_arguments_of_other_programs_are_not_taken_for_short_ones() -> None:
    script = "ray start --head --port=6379 && exec vllm serve m --tensor-parallel-size 4 --port 8000"
    others = ["--api=true", "--prefix=/data", "--distributed", "--dev", "--hf", "--host=x"]
    for fields in ({"command": ["sh", "-c", script]}, {"args": others}):
        diagnostics = run_pack([thing("Pod", "v1", spec=pod(**fields))])
        assert [one for rule in ("tpu-server-argument", "plain-secret") for one in of(diagnostics, rule)] == []


MOVE = ["", ":master", ":stable", ":v1", ":1", ":nightly-20260801", ":v0.27.0-nightly", ":LATEST", ":latest-v0.27.0"]
STAY = [":v0.27.0", ":0.9", ":v0.27.0-tpu", ":20260801", ":main-0a1b2c3d", ":sha-0a1b2c3", ":v0.27.0rc1",
        f":latest@sha256:{'0' * 64}", ":1.36.2-gke.1"]  # fmt: skip


def test_tags_that_move_are_refused_and_those_that_stay_accepted() -> None:
    for tag in MOVE + STAY:
        server = thing("Pod", "v1", spec=pod(image=f"registry:5000/vllm/vllm-tpu{tag}"))
        assert bool(of(run_pack([server]), "image-tag", "MANDATORY")) is (tag in MOVE), tag


def test_a_number_of_any_size_is_judged() -> None:
    for period in (1e308, -1e308):
        probe = {"httpGet": {"path": "/health"}, "periodSeconds": period, "failureThreshold": period}
        diagnostics = run_pack([thing("Deployment", "apps/v1", spec={"template": {"spec": pod(startupProbe=probe)}})])
        assert not any("this rule failed" in one.text for one in diagnostics)


@pytest.mark.parametrize(
    ("context", "rules"),
    [
        ({"privileged": True}, {"privileged-pod"}),
        ({"capabilities": {"add": ["SYS_ADMIN"]}}, {"privileged-pod"}),
        ({"capabilities": {"add": ["CAP_SYS_RESOURCE"]}}, {"model-privileges"}),
        ({"capabilities": {"add": ["SYS_ADMIN", "SYS_RESOURCE"]}}, {"privileged-pod", "model-privileges"}),
    ],
)
def test_each_privilege_of_a_server_is_reported_by_one_rule(context: dict[str, Any], rules: set[str]) -> None:
    diagnostics = run_pack([thing("Pod", "v1", spec=pod(securityContext=context))])
    assert {one.policy for one in diagnostics} & {"privileged-pod", "model-privileges"} == rules
    assert len([one for one in diagnostics if one.policy in rules]) == len(rules)


def test_an_object_in_another_is_reported_once() -> None:
    privileged = thing("Pod", "v1", spec=pod(securityContext={"privileged": True})).inputs
    assert len(of(run_pack([held(privileged)]), "privileged-pod")) == 1
    assert len(of(run_pack([held(held(privileged).inputs)]), "privileged-pod")) == 1


def test_a_profile_of_a_map_that_is_pod_and_container_is_reported_once(in_stack: InStack) -> None:
    in_stack("prod")
    context = {"privileged": False, "seccompProfile": {"type": "Unconfined"}}
    diagnostics = run_pack([values(decode={"nodeSelector": {"pool": "a"}, "securityContext": context})])
    assert len(of(diagnostics, "privileged-pod")) == 1


UNREADABLE: dict[str, str] = {
    "a control character": "a: \x01\nhostNetwork: true\n",
    "too many values": f"a: [{'1,' * 100_001}]\nhostNetwork: true\n",
    "too deep": "a: " + "[" * 200_000 + "]" * 200_000,
}


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_of_values_that_cannot_be_read_is_named(content: str) -> None:
    diagnostics = of(run_pack([release("x", valueYamlFiles=[text_asset(content)])]), "unreadable-manifest", "ADVISORY")
    assert ["document 1 of valueYamlFiles" in one.text for one in diagnostics] == [True]


def test_an_unreadable_file_of_values_hides_no_other(in_stack: InStack) -> None:
    in_stack("prod")
    files = [text_asset("a: \x01"), text_asset("hostNetwork: true")]
    assert of(run_pack([release("x", valueYamlFiles=files)]), "privileged-pod", "MANDATORY")


def test_an_object_as_text_that_cannot_be_read_is_named() -> None:
    diagnostics = of(
        run_pack([values(extraDeploy=["apiVersion: v1\nkind: Pod\na: \x01"])]), "unreadable-manifest", "ADVISORY"
    )
    assert len(diagnostics) == 1


def test_an_object_behind_a_document_that_is_too_deep_is_judged() -> None:
    deep = "a: " + "[" * 300 + "]" * 300 + f"\n---\n{GATEWAY_TEXT}"
    assert of(run_pack([bundle(yaml=deep)]), "gateway-class", "MANDATORY")
