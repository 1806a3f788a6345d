"""Reading a stack's outputs: from which Pulumi, with which key, and what is said where they are missing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from operations import outputs
from operations.exits import BadInput, NotUp, SetUpFailed, Unreachable
from operations.options import Cloud
from operations.target import Target
from tests.fakes.script import SHEBANG
from tests.operations.conftest import Clone
from tests.operations.support import program

PULUMI = """\
{shebang}import json, os, sys
if "--show-secrets" in sys.argv:
    print("the-kubeconfig")
elif sys.argv[sys.argv.index("-s") + 1] != "one":
    print("error: a sentence", file=sys.stderr)
    sys.exit(6)
elif os.environ.get("FAILS"):
    print("error: not found, no stack named, pulumi login", file=sys.stderr)
    sys.exit(int(os.environ["FAILS"]))
else:
    print(json.dumps({outputs}))
"""
EXPORTED = {
    "gatewayIp": "203.0.113.7",
    "models": {"qwen": {"url": "http://203.0.113.7/models/qwen", "servedModelName": "qwen"}},
    "cluster": {"name": "llmd-one", "location": "us-east5", "project": "my-project"},
    "kubeconfig": "[secret]",
}


@pytest.fixture
def pulumi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `pulumi` on PATH that answers for the stack `one` as the engine does: secrets only where they are needed."""
    return program(tmp_path / "bin" / "pulumi", PULUMI.format(shebang=SHEBANG, outputs=repr(EXPORTED)), monkeypatch)


def test_outputs_of_a_stack_on_google_come_from_the_pulumi_on_path(clone: Clone, pulumi: Path) -> None:
    values = outputs.read(Target("one", Cloud.GOOGLE, clone.root))
    assert values.gateway_ip == "203.0.113.7"
    assert values.models == (outputs.Endpoint("qwen", "http://203.0.113.7/models/qwen", "qwen"),)
    assert values.cluster["location"] == "us-east5"
    assert values.values["kubeconfig"] == "[secret]"
    assert outputs.kubeconfig(Target("one", Cloud.GOOGLE, clone.root)).strip() == "the-kubeconfig"


def behind_a_door(pulumi: Path, **more: object) -> None:
    """The stack has a front door, and ``more`` outputs."""
    model = {"url": "http://203.0.113.7", "servedModelName": "qwen", "namespace": "models"}
    exported = {**EXPORTED, "baseUrl": "http://203.0.113.7/v1", "models": {"qwen": model}, **more}
    pulumi.write_text(PULUMI.format(shebang=SHEBANG, outputs=repr(exported)))


@pytest.mark.parametrize("key", ["key-of-somebody", ""], ids=["given", "not given"])
def test_a_model_behind_the_front_door_is_asked_with_the_key_of_the_environment_and_none_else(
    clone: Clone, pulumi: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    behind_a_door(pulumi)
    monkeypatch.delenv("LLM_API_KEY", raising=False)
    if key:
        monkeypatch.setenv("LLM_API_KEY", key)
    (model,) = outputs.read(Target("one", Cloud.GOOGLE, clone.root)).models
    assert model == outputs.Endpoint(
        "qwen", "http://203.0.113.7", "qwen", behind_door=True, namespace="models", key=key
    )
    assert "key-of-somebody" not in repr(model)


CURL = {
    "plain": "curl http://203.0.113.7/v1",
    "iap": 'curl https://203.0.113.7/v1 -H "proxy-authorization: Bearer $IAP_TOKEN"',
}


@pytest.mark.parametrize(
    ("curl", "token", "behind_iap"),
    [("plain", "token-of-google", False), ("iap", "token-of-google", True), ("iap", "", True)],
)
def test_googles_token_is_for_gateways_with_iap_only(
    clone: Clone, pulumi: Path, monkeypatch: pytest.MonkeyPatch, curl: str, token: str, *, behind_iap: bool
) -> None:
    behind_a_door(pulumi, curl={"qwen": CURL[curl]})
    monkeypatch.setenv("LLM_API_KEY", "key-of-somebody")
    monkeypatch.setenv("IAP_TOKEN", token)
    (model,) = outputs.read(Target("one", Cloud.GOOGLE, clone.root)).models
    assert model.behind_iap is behind_iap
    proxy = {"proxy-authorization": f"Bearer {token}"} if behind_iap and token else {}
    assert model.headers == {"authorization": "Bearer key-of-somebody", **proxy}
    assert "token-of-google" not in repr(model)


def test_a_gateway_with_iap_is_not_asked_without_a_token() -> None:
    model = outputs.Endpoint("qwen", "https://203.0.113.7", "qwen", behind_iap=True)
    outputs.admitted([replace(model, identity="token-of-google"), replace(model, behind_iap=False)])
    with pytest.raises(
        BadInput, match=r"(?s)IAP_TOKEN is not set.*Fix: export IAP_TOKEN=\$\(gcloud auth print-identity"
    ):
        outputs.admitted([model])


def test_a_stack_that_is_not_up_says_how_to_bring_it_up(clone: Clone, pulumi: Path) -> None:
    with pytest.raises(NotUp, match=r"(?s)two does not exist on google.*Fix: pulumi up --stack two"):
        outputs.read(Target("two", Cloud.GOOGLE, clone.root))
    pulumi.write_text(PULUMI.format(shebang=SHEBANG, outputs="{}"))
    with pytest.raises(NotUp, match=r"(?s)no output gatewayIp, models, cluster.*Fix: pulumi up --stack one"):
        outputs.read(Target("one", Cloud.GOOGLE, clone.root))
    with pytest.raises(NotUp, match=r"(?s)in the rehearsal.*Fix: make up STACK=one"):
        outputs.read(Target("one", Cloud.REHEARSAL, clone.root))


def test_a_missing_login_or_engine_is_said_with_its_fix(
    clone: Clone, pulumi: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target = Target("one", Cloud.GOOGLE, clone.root)
    monkeypatch.setenv("FAILS", "3")
    with pytest.raises(SetUpFailed, match="Fix: pulumi login"):
        outputs.read(target)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(SetUpFailed, match="`pulumi` is not on PATH"):
        outputs.read(target)


@pytest.mark.parametrize("status", [1, 255])
def test_what_the_engine_says_in_english_decides_nothing(
    status: int, clone: Clone, pulumi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILS", str(status))
    with pytest.raises(Unreachable, match=r"cannot be read: error: not found, no stack named, pulumi login"):
        outputs.read(Target("one", Cloud.GOOGLE, clone.root))


def test_a_state_that_does_not_answer_in_time_is_unreachable(
    clone: Clone, pulumi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulumi.write_text(SHEBANG + "import signal\nsignal.pause()\n")
    monkeypatch.setattr(outputs, "ANSWER_SECONDS", 0.5)
    with pytest.raises(Unreachable, match="took longer than"):
        outputs.read(Target("one", Cloud.GOOGLE, clone.root))


def test_models_are_left_by_a_change_of_the_state_alone(clone: Clone, pulumi: Path, tmp_path: Path) -> None:
    listed = (
        ("cluster", "llmd-gke:cluster:Cluster", "", False),
        ("pool", "kubernetes:core/v1:Service", "cluster", False),
        ("qwen", "llmd-gke:models:Model", "", True),
        ("qwen-service", "kubernetes:serving.kserve.io/v1alpha2:LLMInferenceService", "qwen", True),
    )
    resources = [
        {"urn": f"urn::{name}", "type": kind, "parent": f"urn::{parent}", "protect": protect}
        for name, kind, parent, protect in listed
    ]
    (tmp_path / "state").write_text(json.dumps({"version": 3, "deployment": {"resources": resources}}))
    answer = "open(state, 'w').write(sys.stdin.read()) if 'import' in sys.argv else print(open(state).read())"
    pulumi.write_text(f"{SHEBANG}import sys\nstate = {str(tmp_path / 'state')!r}\n{answer}\n")
    target = Target("one", Cloud.GOOGLE, clone.root)
    assert outputs.protected(target) == ("qwen", "qwen-service")
    assert outputs.keep_models(target) == ["qwen"]
    after = json.loads((tmp_path / "state").read_text())["deployment"]["resources"]
    assert [one["urn"] for one in after if one.get("retainOnDelete")] == ["urn::qwen", "urn::qwen-service"]
    assert outputs.protected(target) == ()
