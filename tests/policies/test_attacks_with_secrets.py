"""Ways to hide a secret from the rules: spellings of shells, languages, configuration files and encodings."""

from __future__ import annotations

import base64

import pytest

from tests.policies.conftest import InStack
from tests.policies.registered import pod, thing
from tests.policies.support import Resource, of, run_pack
from tests.policies.test_attacks import env, text

HF = "hf_" + "a" * 34
ENCODED = base64.b64encode(HF.encode()).decode()


def cm(**data: object) -> Resource:
    return thing("ConfigMap", "v1", data=data)


def sh(script: str) -> Resource:
    return thing("Pod", "v1", spec=pod(command=["sh", "-c", script]))


ATTACKS: dict[str, tuple[Resource, str]] = {
    "base64 in a script": (sh(f"export X=$(echo {ENCODED} | base64 -d); vllm"), "plain-secret"),
    "$'..'": (sh("HF_TOKEN=$'abcdef' vllm"), "plain-secret"),
    "default": (sh("export HF_TOKEN=${HF_TOKEN:-abcdef}; vllm"), "plain-secret"),
    "empty quotes": (sh("HF_TOKEN=''abcdef vllm"), "plain-secret"),
    "+=": (sh("HF_TOKEN+=abcdef; vllm"), "plain-secret"),
    "echo": (sh("HF_TOKEN=$(echo abcdef) vllm"), "plain-secret"),
    "python": (
        thing("Pod", "v1", spec=pod(command=["python", "-c", "import os; os.environ['HF_TOKEN']='abcdef'"])),
        "plain-secret",
    ),
    "curl header": (sh("curl -H 'Authorization: Bearer abcdefabcdef' x"), "plain-secret"),
    "--token": (thing("Pod", "v1", spec=pod(args=["--token", "abcdef"])), "plain-secret"),
    "API_KEYS": (env("VLLM_API_KEYS"), "plain-secret"),
    "JSON in env": (env("CONFIG", '{"api_key": "abcdef"}'), "plain-secret"),
    "uri": (
        thing("LLMInferenceService", "serving.kserve.io/v1alpha2", spec={"model": {"uri": "s3://KEY:abcdef@bucket/m"}}),
        "plain-secret",
    ),
    "yaml in ConfigMap": (cm(**{"config.yaml": "server:\n  password: abcdef\n"}), "plain-secret-value"),
    "json in ConfigMap": (cm(**{"config.json": '{"hf_token": "abcdef"}'}), "plain-secret-value"),
    "properties": (cm(**{"a.properties": "spring.datasource.password=abcdef"}), "plain-secret-value"),
    "ini": (cm(**{"a.ini": "[db]\npassword = abcdef"}), "plain-secret-value"),
    "base64 in ConfigMap": (cm(x=ENCODED), "plain-secret-value"),
    "binaryData": (thing("ConfigMap", "v1", binaryData={"x": ENCODED}), "plain-secret-value"),
    "docker config": (
        cm(**{"config.json": '{"auths": {"r": {"auth": "dXNlcjphYmNkZWZhYmNkZWY="}}}'}),
        "plain-secret-value",
    ),
    "dev mode in script": (sh("VLLM_SERVER_DEV_MODE=1 vllm serve m"), "server-environment"),
    "dev mode by env": (
        thing("Pod", "v1", spec=pod(command=["env", "VLLM_SERVER_DEV_MODE=1", "vllm"])),
        "server-environment",
    ),
    "tag latest at the end": (thing("Pod", "v1", spec=pod(image="x/y:v0.27.0-latest")), "image-tag"),
    "secret as null/duplicate": (
        text("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  a: null\nstringData: {a: '', a: abcdef}\n"),
        "plain-secret-value",
    ),
    "an array": (sh("T=(HF_TOKEN=abcdef); env ${T[@]} vllm"), "plain-secret"),
    "printf": (sh("printf -v HF_TOKEN abcdef; vllm"), "plain-secret"),
    "read": (sh("read -r HF_TOKEN <<< abcdef; vllm"), "plain-secret"),
    "curl": (sh("curl -fs -u me:abcdef https://x"), "plain-secret"),
    "a path of a probe": (
        thing("Pod", "v1", spec=pod(livenessProbe={"httpGet": {"path": "/h?api_key=abcdef"}})),
        "plain-secret",
    ),
    "escaped JSON": (env("CONFIG", '{\\"api_key\\": \\"abcdef\\"}'), "plain-secret"),
    "XML": (cm(x="<db><password>abcdef</password></db>"), "plain-secret-value"),
    "netrc": (cm(netrc="machine h login u password abcdef"), "plain-secret-value"),
}


@pytest.mark.parametrize(("resource", "rule"), ATTACKS.values(), ids=ATTACKS)
def test_a_hidden_secret_is_found_and_not_repeated(resource: Resource, rule: str, in_stack: InStack) -> None:
    in_stack("prod")
    diagnostics = of(run_pack([resource]), rule)
    assert "MANDATORY" in {one.level for one in diagnostics}
    assert not any("this rule failed" in one.text or "abcdef" in one.text for one in diagnostics)


HARMLESS: dict[str, tuple[Resource, str]] = {
    "a command that asks": (sh('read -r HF_TOKEN <<< "$X"; curl -u "$USER:$PW" https://x'), "plain-secret"),
    "tokens of a tokenizer": (cm(x='{"eos_token": "<|im_end|>", "max_tokens": 512}'), "plain-secret-value"),
    "the name of a Secret": (cm(x="passwordSecretRef: mine\nsecretName: mine"), "plain-secret-value"),
    "templates and files": (cm(x="password: ${PW}\ntoken: /run/token\napi_key: null"), "plain-secret-value"),
    "an empty variable": (sh("HF_TOKEN= vllm serve m"), "plain-secret"),
    "a default that is empty": (sh("HF_TOKEN=${OTHER:-} vllm serve m"), "plain-secret"),
    "a digest": (cm(x="sha256:" + "a" * 64), "plain-secret-value"),
}


@pytest.mark.parametrize(("resource", "rule"), HARMLESS.values(), ids=HARMLESS)
def test_what_only_looks_like_a_secret_is_left_alone(resource: Resource, rule: str, in_stack: InStack) -> None:
    in_stack("prod")
    assert of(run_pack([resource]), rule) == []
