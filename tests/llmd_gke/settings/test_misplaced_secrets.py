"""A secret in the wrong place is not repeated: messages end up in logs and in pull requests.

Twenty kinds of misplaced secrets, and the way a message could show a piece of one. What only the stack's encryption
says to be secret is covered, too: under a misspelt key it is decrypted before anybody has looked at its name.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from llmd_gke.settings import SettingsError, load_stack, parse
from tests.llmd_gke.settings.conftest import Config, Refuse

CANARY = "c4n4ryNeverShown"
BODY = f"MIIEvg{CANARY}IBADANBgkqhkiG9w0BAQEFAASC\n{CANARY}" + "x" * 400
PEM = f"-----BEGIN PRIVATE KEY-----\n{BODY}\n-----END PRIVATE KEY-----\n"
HUB = f"hf_{CANARY}{CANARY}"


def model(**settings: object) -> Callable[[Config], None]:
    return lambda config: config["llmd-gke:models"][0].update(settings)


MISPLACED: dict[str, Callable[[Config], None]] = {
    "tlskey": lambda c: c.update({"llmd-gke:tlskey": PEM}),
    "tlsPrivate": lambda c: c.update({"llmd-gke:tlsPrivate": PEM}),
    "gateway.tls.key": lambda c: c["llmd-gke:gateway"].update(tls={"key": PEM}),
    "PEM as a list of lines": lambda c: c["llmd-gke:gateway"].update(tls=PEM.splitlines()),
    "PEM in a known key": lambda c: c["llmd-gke:gateway"].update(domain=PEM),
    "env as a table": model(env={"HF_TOKEN": CANARY}),
    "env as a list": model(env=[{"name": "HF_TOKEN", "value": CANARY}]),
    "env inside a known key": model(scheduler=[{"name": "DB_PASSWORD", "value": CANARY}]),
    "--api_key X": model(extraArgs=[f"--api_key {CANARY}", 3]),
    "--api-key=X": model(extraArgs=[f"--api-key={CANARY}", 3]),
    "--hf-token, X": model(extraArgs=["--hf-token", CANARY, 3]),
    "--hf-toke, X": model(extraArgs=["--hf-toke", CANARY, 3]),
    "--api_k X": model(extraArgs=[f"--api_k {CANARY}", 3]),
    "one text": model(extraArgs=f"--seed 7 --hf-token {CANARY}"),
    "user and password of a URL": model(uri=f"https://user:{CANARY}@example.com/model"),
    "user and password of a bucket": model(uri=f"s3://KEY:{CANARY}@bucket/model"),
    "proxy as a list": lambda c: c.update({"llmd-gke:network": {"egress": {"proxy": [f"http://u:{CANARY}@10.0.0.1"]}}}),
    "token of Hugging Face": model(name=HUB),
    "token of GitHub": model(pool=f"ghp_{CANARY}{CANARY}"),
    "JSON web token": model(image=f"eyJhbGciOiJIUzI1NiJ9.{CANARY}.{CANARY}:latest"),
    "access token of Google": lambda c: c.update({"gcp:project": f"ya29.{CANARY}"}),
    "pull secret": model(privateImage=f'{{"auths":{{"r.example":{{"auth":"{CANARY}"}}}}}}'),
    "a plain secret": lambda c: c.update({"llmd-gke:hfToken": CANARY, "llmd-gke:cluster": {"zone": CANARY}}),
    "a secret as a key": model(**{HUB: 1}),
    "labels": lambda c: c["llmd-gke:cluster"].update(labels={"token": CANARY, "x": 1}),
}


@pytest.mark.parametrize("kind", MISPLACED)
def test_a_misplaced_secret_is_not_repeated(config: Config, refused: Refuse, kind: str) -> None:
    MISPLACED[kind](config)
    message = refused(config)
    assert CANARY not in message
    assert "MIIE" not in message


@pytest.mark.parametrize(
    "key", ["tlskey", "cluster", "cluster.zone", "gateway.domain", "models[0].servedModelName", "models[0].image"]
)
def test_what_the_stack_encrypts_is_never_shown_whatever_its_key(config: Config, key: str) -> None:
    plain, top = "plain-Words.of a secret", key.split(".")[0].split("[")[0]
    if key == top:
        config[f"llmd-gke:{key}"] = plain
    elif top == "models":
        config["llmd-gke:models"][0][key.rsplit(".", 1)[-1]] = plain
    else:
        config.setdefault(f"llmd-gke:{top}", {})[key.rsplit(".", 1)[-1]] = plain
    with pytest.raises(SettingsError) as caught:
        parse(config, "eu4a", encrypted=[f"llmd-gke:{top}"])
    assert f"llmd-gke:{top}" in str(caught.value)
    assert plain not in str(caught.value)
    assert "plain-Words" not in str(caught.value)


def test_a_warning_does_not_show_what_the_stack_encrypts(config: Config) -> None:
    config["llmd-gke:cluster"]["zone"] = "mars-north1-a"
    checked = parse(config, "eu4a", encrypted=["llmd-gke:cluster"])
    result = [one for one in checked.warnings if one.finding.rule == "tpu-zone"]
    assert result
    assert all(one.value is None and "mars-north1-a" not in one.finding.problem for one in result)


def test_ciphertext_in_a_stack_file_is_not_shown(root: Path, tmp_path: Path) -> None:
    text = (root / "Pulumi.eu4a.yaml").read_text()
    (tmp_path / "Pulumi.eu4a.yaml").write_text(text.replace("llmd-eu4a", "{secure: v1:cipherText}"))
    with pytest.raises(SettingsError) as caught:
        load_stack(tmp_path, "eu4a")
    assert "llmd-gke:cluster.name" in str(caught.value)
    assert "cipherText" not in str(caught.value)
