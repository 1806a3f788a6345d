"""What model pods may reach outside: each rule with its whole message."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config, Refuse


def test_a_password_in_the_proxys_address_is_refused_and_not_repeated(config: Config, refused: Refuse) -> None:
    config["llmd-gke:network"] = {"egress": {"mode": "proxy", "proxy": "http://me:neverShown@10.1.2.3:3128"}}
    message = refused(config)
    assert "which anyone who can read the pod would see  [egress-proxy]" in message
    assert "neverShown" not in message


def rules(checked: Checked) -> set[str]:
    return {one.finding.rule for one in checked.warnings}


@pytest.mark.parametrize(
    ("argument", "warned"),
    [("--trust-remote-code", True), ("--trust_remote_code=true", True), ("--trust-remote-code=false", False)],
)
def test_code_of_a_model_that_reaches_everybody_is_a_warning(
    config: Config, accepted: Callable[..., Checked], argument: str, warned: bool
) -> None:
    config["llmd-gke:models"][0]["extraArgs"] = [argument]
    assert ({"remote-code", "model-revision"} <= rules(accepted(config))) is warned
    config["llmd-gke:network"] = {"egress": {"mode": "names"}}
    assert "remote-code" not in rules(accepted(config)), "it reaches the hosts of its weights only"


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("uri", "warned"),
    [
        ("hf://Qwen/Qwen3-4B", True),
        ("hf://Qwen/Qwen3-4B:main", True),
        (f"hf://Qwen/Qwen3-4B:{COMMIT}", False),
        ("gs://weights/qwen", False),
    ],
)
def test_weights_of_a_protected_stack_that_their_owner_can_change_are_a_warning(
    config: Config, accepted: Callable[..., Checked], uri: str, warned: bool
) -> None:
    config["llmd-gke:models"][0]["uri"] = uri
    assert "model-revision" not in rules(accepted(config)), "a stack for trials"
    config["llmd-gke:cluster"]["protect"] = True
    assert ("model-revision" in rules(accepted(config))) is warned
