"""Ways around the rules for pods, charts, bundles and tokens: another place or spelling is judged all the same."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from tests.abbreviations import VARIANTS
from tests.policies.registered import (
    GATEWAY,
    GATEWAY_TEXT,
    LATEST,
    RESOURCES,
    THING,
    TPU_POD,
    bundle,
    pod,
    release,
    thing,
)
from tests.policies.support import Resource, of, run_pack, secret

KINDS = {
    "DaemonSet": thing("DaemonSet", "apps/v1", spec={"template": {"spec": LATEST}}),
    "ReplicaSet": thing("ReplicaSet", "apps/v1", spec={"template": {"spec": LATEST}}),
    "CronJob": thing("CronJob", "batch/v1", spec={"jobTemplate": {"spec": {"template": {"spec": LATEST}}}}),
    "JobSet": thing(
        "JobSet",
        "jobset.x-k8s.io/v1alpha2",
        spec={"replicatedJobs": [{"name": "w", "template": {"spec": {"template": {"spec": LATEST}}}}]},
    ),
    "LeaderWorkerSet": thing(
        "LeaderWorkerSet",
        "leaderworkerset.x-k8s.io/v1",
        spec={"leaderWorkerTemplate": {"workerTemplate": {"spec": LATEST}}},
    ),
    "PodTemplate": thing("PodTemplate", "v1", template={"spec": LATEST}),
    "a kind nobody knows": thing("Fleet", "example.com/v1", spec={"groups": {"a": {"pods": [LATEST]}}}),
    "InferenceService": thing("InferenceService", "serving.kserve.io/v1beta1", spec={"predictor": LATEST}),
    "an init container": thing("Pod", "v1", spec={**TPU_POD, "initContainers": LATEST["containers"]}),
    "an ephemeral container": thing("Pod", "v1", spec={**TPU_POD, "ephemeralContainers": LATEST["containers"]}),
    "a list": Resource(
        "kubernetes:core/v1:List",
        "list",
        {"apiVersion": "v1", "kind": "List", "items": [thing("Pod", "v1", spec=LATEST).inputs]},
    ),
    "a list under another token": Resource(
        THING, "list", {"apiVersion": "v1", "kind": "List", "items": [thing("Pod", "v1", spec=LATEST).inputs]}
    ),
}


@pytest.mark.parametrize("resource", KINDS.values(), ids=KINDS)
def test_pods_for_tpu_are_found_in_every_kind(resource: Resource) -> None:
    assert of(run_pack([resource]), "image-tag", "MANDATORY")


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


def test_the_whole_spec_may_be_secret() -> None:
    assert of(
        run_pack([Resource(THING, "g", {**GATEWAY, "spec": secret(GATEWAY["spec"])})]), "gateway-class", "MANDATORY"
    )


CHARTS = {
    "a lying kind": (release(RESOURCES, version="v0.19.0", apiVersion="v1", kind="ConfigMap"), "platform-version"),
    "a lying kind, namespace": (
        Resource(
            "kubernetes:helm.sh/v3:Release",
            "r",
            {"chart": RESOURCES, "version": "v0.20.0", "namespace": "default", "apiVersion": "v1", "kind": "ConfigMap"},
        ),
        "kserve-namespace",
    ),
    "a lying kind, CRDs": (
        release(RESOURCES, version="v0.20.0", apiVersion="v1", kind="ConfigMap"),
        "crd-ownership",
    ),
    "tag in the address": (release(f"{RESOURCES}:v0.19.0"), "platform-version"),
    "tag beside a version": (release(f"{RESOURCES}:v0.19.0", version="v0.20.0"), "platform-version"),
    "archive": (
        release("https://github.com/kserve/kserve/releases/kserve-llmisvc-resources-v0.19.0.tgz"),
        "platform-version",
    ),
    "archive with a query": (release("https://x.example/lws-0.7.0.tgz?raw=1"), "platform-version"),
    "repository": (
        release("kserve-llmisvc-resources", version="0.19.0", repositoryOpts={"repo": "https://x.example"}),
        "platform-version",
    ),
    "fetch options": (
        Resource("kubernetes:helm.sh/v3:Chart", "c", {"chart": "lws", "fetchOpts": {"version": "0.7.0"}}),
        "platform-version",
    ),
    "no version": (release(RESOURCES), "platform-version"),
    "empty version": (release(RESOURCES, version=""), "platform-version"),
    "newest": (release(RESOURCES, version="*"), "platform-version"),
    "range": (release(RESOURCES, version=">=0.19.0"), "platform-version"),
    "minor": (release(RESOURCES, version="~0.20"), "platform-version"),
    "namespace by tag": (
        Resource("kubernetes:helm.sh/v3:Release", "r", {"chart": f"{RESOURCES}:v0.20.0", "namespace": "default"}),
        "kserve-namespace",
    ),
    "CRDs by tag": (release(f"{RESOURCES}:v0.20.0"), "crd-ownership"),
}


@pytest.mark.parametrize(("resource", "rule"), CHARTS.values(), ids=CHARTS)
def test_charts_are_judged_however_they_are_named(resource: Resource, rule: str) -> None:
    assert of(run_pack([resource]), rule, "MANDATORY")


def test_charts_that_are_pinned_in_their_address_or_beside_the_program_are_accepted() -> None:
    for chart in (f"{RESOURCES}:v0.20.0", f"{RESOURCES}@sha256:{'0' * 64}", "./charts/kserve-llmisvc-resources"):
        assert of(run_pack([release(chart)]), "platform-version") == [], chart


SECRETS: dict[str, Mapping[str, Any]] = {
    "shell": {"command": ["sh", "-c", "HF_TOKEN=abcdef vllm serve m"]},
    "shell after a command": {"args": ["cd /; export HF_TOKEN=abcdef;vllm serve m"]},
    "env command": {"command": ["env", "HF_TOKEN=abcdef", "vllm"]},
    "nested shells": {"command": ["bash", "-c", "sh -c 'HF_TOKEN=\"abcdef\" vllm'"]},
    "DB_PASS": {"env": [{"name": "DB_PASS", "value": "x"}]},
    "PGPASSWORD": {"env": [{"name": "PG_PASSWORD", "value": "x"}]},
    "lower case": {"env": [{"name": "hf_token", "value": "x"}]},
    "proxy with password": {"env": [{"name": "HTTPS_PROXY", "value": "http://u:p@proxy:3128"}]},
    "URL with password in arguments": {"args": ["--store", "redis://:p@cache:6379"]},
    "token under another name": {"env": [{"name": "INNOCENT", "value": "hf_" + "a" * 34}]},
    "private key": {"env": [{"name": "CONFIG", "value": "-----BEGIN RSA PRIVATE KEY-----\nMII"}]},
    "argument": {"args": ["--hf_token=abcdef"]},
    "short argument": {"args": ["--hf-toke", "abcdef"]},
    "two-part argument": {"args": ["--redis-password", "abcdef"]},
    "additional arguments": {"env": [{"name": "VLLM_ADDITIONAL_ARGS", "value": "--api_ke abcdef"}]},
    "hook": {"lifecycle": {"postStart": {"exec": {"command": ["sh", "-c", "API_KEY=abcdef curl x"]}}}},
    "probe": {"readinessProbe": {"exec": {"command": ["curl", "http://u:p@localhost/health"]}}},
}


@pytest.mark.parametrize("fields", SECRETS.values(), ids=SECRETS)
def test_secrets_are_found_wherever_a_pod_can_carry_them(fields: Mapping[str, Any]) -> None:
    diagnostics = of(
        run_pack([thing("DaemonSet", "apps/v1", spec={"template": {"spec": pod(**fields)}})]), "plain-secret"
    )
    assert [one.level for one in diagnostics][:1] == ["MANDATORY"]
    assert not any("abcdef" in one.text or "u:p" in one.text for one in diagnostics)


@pytest.mark.parametrize(
    "fields",
    [
        {"command": ["sh", "-c", "HF_TOKEN=$(cat /secret/token) exec vllm serve m"]},
        {"command": ["sh", "-c", 'export HF_TOKEN="$OTHER"; vllm serve m']},
        {"env": [{"name": "TOKEN_FILE", "value": "/secret/token"}, {"name": "MAX_TOKENS", "value": "100"}]},
        {"env": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}, {"name": "URL", "value": "https://h/a:b@c"}]},
        {"args": ["--max-num-batched-tokens=4096", "--tokenizer", "hf://x", "--served-model-name=a"]},
    ],
)
def test_what_only_resembles_a_secret_is_left_alone(fields: Mapping[str, Any]) -> None:
    assert of(run_pack([thing("Pod", "v1", spec=pod(**fields))]), "plain-secret") == []


WRITTEN = ["--served-model-name", "qwen", "--port", "8000", "--tensor-parallel-size", "4"]
OWN_RULES = {
    "--api-key": "plain-secret",
    "--hf-token": "plain-secret",
    "--tensor-parallel-size": "tpu-parallelism",
}


@pytest.mark.parametrize(("name", "argv"), VARIANTS)
def test_short_arguments_of_servers_count_as_those_that_they_are(name: str, argv: list[str]) -> None:
    for fields in (
        {"args": [*WRITTEN, *argv]},
        {"args": WRITTEN, "env": [{"name": "VLLM_ADDITIONAL_ARGS", "value": shlex.join(argv)}]},
    ):
        diagnostics = run_pack([thing("Pod", "v1", spec=pod(**fields))])
        assert of(diagnostics, OWN_RULES.get(name, "tpu-server-argument"), "MANDATORY")


def test_arguments_of_other_programs_are_not_taken_for_short_ones() -> None:
    script = "ray start --head --port=6379 && exec vllm serve m --tensor-parallel-size 4 --port 8000"
    others = ["--api=true", "--prefix=/data", "--distributed", "--dev", "--hf", "--host=x"]
    for fields in ({"command": ["sh", "-c", script]}, {"args": others}):
        diagnostics = run_pack([thing("Pod", "v1", spec=pod(**fields))])
        assert [one for rule in ("tpu-server-argument", "plain-secret") for one in of(diagnostics, rule)] == []


@pytest.mark.parametrize(
    "tag",
    ["", ":master", ":dev", ":edge", ":stable", ":v1", ":1", ":main", ":nightly-20260801", ":v0.27.0-nightly", ":cuda",
     ":LATEST", ":latest-v0.27.0", ":release", ":tpu-head"],
)  # fmt: skip
def test_tags_that_move_are_refused(tag: str) -> None:
    assert of(
        run_pack([thing("Pod", "v1", spec=pod(image=f"registry:5000/vllm/vllm-tpu{tag}"))]), "image-tag", "MANDATORY"
    )


@pytest.mark.parametrize(
    "tag",
    [":v0.27.0", ":0.9", ":v0.27.0-tpu", ":20260801", ":main-0a1b2c3d", ":sha-0a1b2c3", ":latest@sha256:" + "0" * 64,
     "@sha256:" + "0" * 64, ":v0.27.0rc1", ":1.36.2-gke.1"],
)  # fmt: skip
def test_tags_that_stay_are_accepted(tag: str) -> None:
    assert of(run_pack([thing("Pod", "v1", spec=pod(image=f"registry:5000/vllm/vllm-tpu{tag}"))]), "image-tag") == []


def test_image_volumes_and_models_in_images_are_pinned() -> None:
    volume = {"name": "weights", "image": {"reference": "registry/weights:latest"}}
    model = {"uri": "oci://registry/model:latest"}
    adapter = {"uri": "hf://a/b", "lora": {"adapters": [{"uri": "oci://registry/adapter"}]}}
    for resource in (
        thing("Pod", "v1", spec={**TPU_POD, "volumes": [volume]}),
        thing("LLMInferenceService", "serving.kserve.io/v1alpha2", spec={"model": model}),
        thing("LLMInferenceServiceConfig", "serving.kserve.io/v1alpha2", spec={"model": adapter}),
    ):
        assert of(run_pack([resource]), "image-tag", "MANDATORY"), resource


BUNDLES = {
    "list in objs": bundle(objs=[{"apiVersion": "v1", "kind": "List", "items": [GATEWAY]}]),
    "list in a list": bundle(
        objs=[{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "List", "items": [GATEWAY]}]}]
    ),
    "list in text": bundle(yaml=yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [GATEWAY]})),
    "typed list": bundle(
        objs=[{"apiVersion": GATEWAY["apiVersion"], "kind": "GatewayList", "items": [GATEWAY]}]
    ),
    "after a document with an error": bundle(yaml=f"a: [\n---\n{GATEWAY_TEXT}"),
    "before a document with an error": bundle(yaml=f"{GATEWAY_TEXT}\n---\na: [\n"),
    "after a custom tag": bundle(yaml=f"a: !mine b\n---\n{GATEWAY_TEXT}"),
    "with a custom tag": bundle(yaml=GATEWAY_TEXT.replace("kind: Gateway", "kind: !mine Gateway")),
    "secret text": bundle(yaml=secret(GATEWAY_TEXT)),
    "secret objects": bundle(objs=secret([GATEWAY])),
    "JSON": bundle(yaml=['{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": "g"}, '
                         '"spec": {"gatewayClassName": "gke-l7-gxlb"}}']),
    "a lying bundle": Resource(
        "kubernetes:yaml/v2:ConfigGroup", "b", {"apiVersion": "v1", "kind": "ConfigMap", "objs": [GATEWAY]}
    ),
}  # fmt: skip


@pytest.mark.parametrize("resource", BUNDLES.values(), ids=BUNDLES)
def test_bundles_are_unpacked(resource: Resource) -> None:
    assert of(run_pack([resource]), "gateway-class", "MANDATORY")


def test_a_number_of_any_size_is_judged() -> None:
    for period in (1e308, -1e308):
        probe = {"httpGet": {"path": "/health"}, "periodSeconds": period, "failureThreshold": period}
        diagnostics = run_pack([thing("Deployment", "apps/v1", spec={"template": {"spec": pod(startupProbe=probe)}})])
        assert not any("this rule failed" in one.text for one in diagnostics)
