from __future__ import annotations

import random

import pytest

from llmd_gke import redaction
from llmd_gke.redaction import HIDDEN, is_secret_name, masked, shown


@pytest.mark.parametrize(
    "name",
    ["HF_TOKEN", "hfToken", "tlsKey", "tlskey", "tlsPrivate", "key", "apikey", "--api-key", "X-Api-Key", "DB_PASS",
     "DATABASE_PASSWORD", "passphrase", "Authorization", "auth", "client_secret", "kubeconfig", "credentials",
     "GOOGLE_CREDENTIALS", "private_key", "AWS_SECRET_ACCESS_KEY"],
)  # fmt: skip
def test_a_name_tells_that_its_value_is_secret(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    ["maxTokens", "tokenizer", "firstTokenSeconds", "interTokenMilliseconds", "secretName", "urlSecretName",
     "privateNodes", "privateImage", "secretManager", "authorizedNetworks", "keyRing",
     "maxNumBatchedTokens", "name", "author", "passes", "monkeys", "servedModelName", "compileCache"],
)  # fmt: skip
def test_an_ordinary_name_tells_nothing(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "text",
    ["projects/my-project/locations/europe-west4/keyRings/Ring1/cryptoKeys/Key2024", "hyperdisk-balanced",
     "hf://Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", "europe-west4-a", "http://10.0.0.5:3128", "ct6e-standard-4t",
     "europe-docker.pkg.dev/my-project/images/vllm-tpu@sha256:" + "0123456789abcdef" * 4, "1.34.0-gke.1662000",
     "3d3c42e5aac5ba805825da76410c181273ba90b1", "--max-num-seqs=64", "--seed 7", "--api-key must not be set: x",
     "hfToken: the model is gated", "AUTH is not read", "HTTP basic authentication needs a user", "a bearer token, X",
     "{name: HF_TOKEN, secret: NAME, key: KEY}"],
)  # fmt: skip
def test_ordinary_values_are_shown(text: str) -> None:
    assert masked(text) == text
    assert shown(text, longest=400) == f'"{text}"'


@pytest.mark.parametrize("size", [32, 160, 2048])
@pytest.mark.parametrize("cut", [40, 80, 120])
def test_a_private_key_is_masked_before_anything_is_cut(size: int, cut: int) -> None:
    letters = random.Random(size).choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", k=size)
    body = "".join(letters)
    pem = f"-----BEGIN EC PRIVATE KEY-----\n{body}\n-----END EC PRIVATE KEY-----\n"
    for value in (pem, pem[:-40], {"a": pem}, [pem], pem.splitlines(), {"lines": pem.splitlines()}):
        text = shown(value, longest=cut)
        assert len(text) <= cut
        assert all(body[index : index + 6] not in text for index in range(size - 6))


def test_names_beside_values_are_found_at_any_depth() -> None:
    value = {"a": [{"name": "HF_TOKEN", "value": "plain"}], "b": {"c": {"password": 12345678, "on": True}}}
    text = shown(value)
    assert "plain" not in text
    assert "12345678" not in text
    assert '"name": "HF_TOKEN"' in text
    assert '"on": true' in text


def test_a_list_of_arguments_hides_what_follows_a_secret_flag() -> None:
    assert shown(["--seed", "7", "--hf-token", "abcdef"]) == f'["--seed", "7", "--hf-token", "{HIDDEN}"]'
    assert "abcdef" not in shown("python serve.py --api_key abcdef --seed 7")
    assert "abcdef" not in masked("HTTPS_PROXY=http://me:abcdef@10.0.0.1")
    tokens = ("pul-0123456789abcdef", "AKIAABCDEFGHIJ234567")
    for text in (*tokens, "--api-key=must", "token: theabcdef", "Bearer token-abcdef", "Basic authenticationabcdef"):
        assert HIDDEN in masked(text), text


def test_the_command_that_sets_a_secret_stays_readable() -> None:
    command = "pulumi config set --secret llmd-gke:hfToken (then paste the token)"
    assert masked(command) == command


def test_what_terminals_obey_is_written_out() -> None:
    assert redaction.printable("a\x1b[31mb\x00\r\u202e\udc80\nc") == "a\\u001b[31mb\\u0000\\u000d\\u202e\\udc80\nc"


def test_deep_and_long_values_are_cut_and_never_fail() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    assert len(shown(deep)) <= 120
    assert len(shown({str(number): "x" * 10_000 for number in range(1000)})) <= 120


def test_texts_known_to_be_secret_are_found_in_lines_too() -> None:
    texts = set(redaction.texts_in({"a": ["line one\nline two"], "n": 4711}))
    assert redaction.without("said: line two, 4711", texts) == f"said: {HIDDEN}, {HIDDEN}"
