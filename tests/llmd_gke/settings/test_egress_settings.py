"""What model pods may reach outside: each rule with its whole message."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config, Refuse

Accept = Callable[..., Checked]
HEAD = "Pulumi.eu4a.yaml has 1 problem:\n\n"
PROXY = "http://10.1.2.3:3128"


@pytest.mark.parametrize(
    "egress",
    [
        {},
        {"mode": "open"},
        {"mode": "names"},
        {"mode": "names", "names": ["models.example.com", "*.example.com"]},
        {"mode": "proxy", "proxy": PROXY},
        {"mode": "proxy", "proxy": f"{PROXY}/", "noProxy": ["mirror.internal"]},
    ],
)
def test_what_fits_together_is_accepted(config: Config, accepted: Accept, egress: dict[str, object]) -> None:
    config["llmd-gke:network"] = {"egress": egress}
    assert accepted(config).settings.network.egress.mode == egress.get("mode", "open")


COMBINATIONS = [
    (
        {"names": ["example.com"]},
        'mode = "open"\n    names with mode open: they would have no effect  [egress-combination]\n'
        "    allowed: mode: names\n    fix:     remove names",
    ),
    (
        {"mode": "proxy"},
        'mode = "proxy"\n    mode proxy requires the setting proxy  [egress-combination]\n'
        "    allowed: proxy: http://ADDRESS:PORT\n    fix:     set proxy",
    ),
    (
        {"mode": "names", "proxy": PROXY},
        'mode = "names"\n    proxy with mode names: it would have no effect  [egress-combination]\n'
        "    allowed: mode: proxy\n    fix:     remove proxy",
    ),
    (
        {"noProxy": ["a.example.com"]},
        'mode = "open"\n    noProxy with mode open: there is no proxy  [egress-combination]\n'
        "    allowed: mode: proxy\n    fix:     remove noProxy",
    ),
    (
        {"mode": "names", "names": ["example.com", "https://x.io"]},
        "names[1] = \"https://x.io\"\n    'https://x.io' is not a host name that an FQDNNetworkPolicy can allow  "
        "[egress-name]\n    allowed: a host such as models.example.com, or *.example.com for every host directly below "
        "example.com\n    fix:     write the host's full name in lower case, without scheme, port and path",
    ),
]


def test_names_and_a_proxy_need_private_nodes(config: Config, refused: Refuse, accepted: Accept) -> None:
    config["llmd-gke:cluster"]["privateNodes"] = False
    config["llmd-gke:network"] = {"egress": {"mode": "names"}}
    message = refused(config)
    assert (
        "mode names requires private nodes: otherwise the endpoint picker might not reach the control plane" in message
    )
    config["llmd-gke:network"] = {"egress": {"mode": "open"}}
    assert accepted(config).settings.network.egress.mode == "open"


@pytest.mark.parametrize(("egress", "message"), COMBINATIONS)
def test_what_does_not_fit_together_is_refused(
    config: Config, refused: Refuse, egress: dict[str, object], message: str
) -> None:
    config["llmd-gke:network"] = {"egress": egress}
    assert refused(config) == f"{HEAD}  llmd-gke:network.egress.{message}"


@pytest.mark.parametrize(
    "name", ["*", "a.*.com", "*.*.com", "example", "example.com:443", "Example.com", "-a.example.com"]
)
def test_what_is_no_name_is_refused(config: Config, refused: Refuse, name: str) -> None:
    config["llmd-gke:network"] = {"egress": {"mode": "names", "names": [name]}}
    assert "[egress-name]" in refused(config)


@pytest.mark.parametrize(
    "proxy",
    ["10.1.2.3:3128", "https://10.1.2.3:3128", "http://proxy.internal:3128", "http://10.1.2.3", "http://[::1]:1"],
)
def test_a_proxy_that_no_policy_can_open_is_refused(config: Config, refused: Refuse, proxy: str) -> None:
    config["llmd-gke:network"] = {"egress": {"mode": "proxy", "proxy": proxy}}
    assert refused(config) == (
        HEAD + "  llmd-gke:network.egress.proxy\n"
        "    this is not a proxy address that a NetworkPolicy can allow: it must be an IPv4 address  "
        "[egress-proxy]\n"
        "    allowed: http://ADDRESS:PORT, such as http://10.1.2.3:3128 (downloads stay encrypted: the proxy only "
        "tunnels them)\n"
        "    fix:     write the proxy's IPv4 address and port"
    )


def test_a_password_in_the_proxys_address_is_refused_and_not_repeated(config: Config, refused: Refuse) -> None:
    config["llmd-gke:network"] = {"egress": {"mode": "proxy", "proxy": "http://me:neverShown@10.1.2.3:3128"}}
    message = refused(config)
    assert "which anyone who can read the pod would see  [egress-proxy]" in message
    assert "neverShown" not in message


@pytest.mark.parametrize(
    ("model", "key"), [({"uri": "gs://weights/qwen"}, "uri"), ({"compileCache": "gs://weights"}, "compileCache")]
)
def test_buckets_are_not_mounted_through_a_proxy(
    config: Config, refused: Refuse, accepted: Accept, model: dict[str, str], key: str
) -> None:
    config["llmd-gke:network"] = {"egress": {"mode": "proxy", "proxy": PROXY}}
    config["llmd-gke:models"][0].update(model)
    (uri,) = model.values()
    assert refused(config) == (
        f'{HEAD}  llmd-gke:models[0].{key} = "{uri}"\n'
        f"    {uri} is mounted by Cloud Storage FUSE, which does not use a proxy: the pod would wait forever  "
        "[egress-bucket]\n"
        "    allowed: hf:// or s3:// (through the proxy), pvc:// or oci:// (no proxy needed), or mode: names\n"
        "    fix:     set llmd-gke:network.egress.mode to names, which allows storage.googleapis.com"
    )
    config["llmd-gke:network"] = {"egress": {"mode": "names"}}
    assert accepted(config)


@pytest.mark.parametrize(
    ("cidr", "rule"), [("0.0.0.0/0", "egress-range"), ("8.0.0.0/7", "egress-range"), ("10.1", "cidr")]
)
def test_a_range_that_is_too_wide_or_none_is_refused(config: Config, refused: Refuse, cidr: str, rule: str) -> None:
    config["llmd-gke:network"] = {"egress": {"ranges": [cidr]}}
    assert f"[{rule}]" in refused(config)


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
