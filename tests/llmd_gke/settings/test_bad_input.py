"""Each kind of bad value gives one clear message: key, value, what is allowed, the fix."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import HEAD, Config, Refuse


@pytest.mark.parametrize(
    ("section", "key", "value", "message"),
    [
        (
            "models",
            "replicas",
            "3",
            'replicas = "3"\n    this must be a whole number  [wrong-value]\n    fix:     write 3 without quotes',
        ),
        (
            "models",
            "replicas",
            True,
            "replicas = true\n    this must be a whole number  [wrong-value]\n"
            "    fix:     write a number without quotes",
        ),
        (
            "models",
            "prefixCaching",
            "true",
            'prefixCaching = "true"\n    this must be true or false  [wrong-value]\n    allowed: true, false\n'
            "    fix:     write true without quotes",
        ),
        ("models", "uri", 7, "uri = 7\n    this must be a string  [wrong-value]\n    fix:     put it in quotes: '7'"),
        (
            "models",
            "extraArgs",
            "--seed 7",
            'extraArgs = "--seed 7"\n    this must be a list  [wrong-value]\n'
            "    fix:     start each entry on a new line with `- `",
        ),
    ],
)
def test_a_wrong_type_is_named_with_the_way_to_write_it(
    config: Config, refused: Refuse, section: str, key: str, value: object, message: str
) -> None:
    config[f"llmd-gke:{section}"][0][key] = value
    assert refused(config) == f"{HEAD}  llmd-gke:{section}[0].{message}"


def test_a_version_without_quotes_is_a_number_to_yaml(config: Config, refused: Refuse) -> None:
    config["llmd-gke:cluster"]["minVersion"] = 1.34
    assert refused(config).endswith("this must be a string  [wrong-value]\n    fix:     put it in quotes: '1.34'")


def test_a_section_that_is_no_table_is_refused_in_words_of_the_file(config: Config, refused: Refuse) -> None:
    config["llmd-gke:gateway"] = "external"
    assert refused(config) == (
        HEAD + '  llmd-gke:gateway = "external"\n'
        "    this must be a map of settings  [wrong-value]\n"
        "    allowed: exposure, allowPlainHttp, open, tls, domain, redirectHttp, allowGlobalAccess, dnsZone, "
        "dnsTtlSeconds\n"
        "    fix:     one `key: value` per line"
    )


@pytest.mark.parametrize(
    ("section", "key", "value", "text"),
    [
        (
            "models",
            "replicas",
            0,
            "out of range|allowed: at least 1|fix:     to keep the model without a server, set stopped: true",
        ),
        ("models", "replicas", 1001, "this number is out of range|allowed: at most 1000|fix:     for example 1000"),
        ("models", "startupMinutes", 14, "this number is out of range|allowed: at least 15|fix:     for example 15"),
        ("models", "replicas", 1.5, "this must be a whole number|fix:     write a number without a fraction"),
        (
            "models",
            "dtype",
            "float16",
            "not one of the allowed values|allowed: auto, bfloat16|fix:     dtype: bfloat16",
        ),
        ("tpuPools", "capacity", "Spot", "allowed: on-demand, spot, reservation, flex-start|fix:     capacity: spot"),
        ("models", "dtype", "zzz", "fix:     use one of them, for example dtype: auto"),
        (
            "models",
            "servedModelName",
            "a b",
            "wrong format|allowed: at most 128 letters, digits,|example Qwen/",
        ),
        ("models", "image", "a b:v1", "this value contains a space|fix:     remove the space"),
        ("tpuPools", "topology", None, "this has no value|fix:     give topology a value, or remove the line"),
        ("models", "replicas", None, "this has no value"),
    ],
)
def test_a_value_that_is_not_allowed_is_named_with_what_is_and_the_fix(
    config: Config, refused: Refuse, section: str, key: str, value: object, text: str
) -> None:
    config[f"llmd-gke:{section}"][0][key] = value
    message = refused(config)
    assert f"llmd-gke:{section}[0].{key}" in message
    assert [part for part in text.split("|") if part not in message] == []


@pytest.mark.parametrize("value", [123456789012, "123456789012"])
def test_the_number_of_a_project_leads_to_its_id(config: Config, refused: Refuse, value: object) -> None:
    config["gcp:project"] = value
    assert refused(config).endswith(
        "gcloud projects describe 123456789012 --format 'value(projectId)' prints the project ID; set that"
    )


def test_an_empty_list_is_refused(config: Config, refused: Refuse) -> None:
    config["llmd-gke:models"] = []
    assert "this list is empty  [wrong-value]\n    allowed: at least one entry" in refused(config)


def test_a_zone_without_v6e_is_refused(config: Config, refused: Refuse) -> None:
    config["llmd-gke:cluster"]["zone"] = "europe-west4-b"
    assert refused(config) == (
        HEAD + '  llmd-gke:cluster.zone = "europe-west4-b"\n'
        "    GKE has no v6e in europe-west4-b (as of 2026-08-22); zones of TPU VMs or of the price list need not "
        "have TPU node pools in GKE  [tpu-zone]\n"
        "    allowed: asia-northeast1-b, europe-west4-a, southamerica-west1-a, us-central1-b, us-east1-d, us-east5-a, "
        "us-east5-b, us-south1-ai1b\n"
        "    fix:     move the cluster to one of these zones"
    )


def test_a_zone_nobody_knows_is_only_a_warning(config: Config, accepted: Callable[..., Checked]) -> None:
    config["llmd-gke:cluster"]["zone"] = "mars-north1-a"
    warnings = {(warning.key, warning.finding.rule) for warning in accepted(config).warnings}
    assert ("llmd-gke:cluster.zone", "tpu-zone") in warnings


def test_a_missing_project_is_refused_with_the_command(config: Config, refused: Refuse) -> None:
    del config["gcp:project"]
    assert refused(config) == (
        HEAD + "  gcp:project\n"
        "    this setting is missing  [missing-key]\n"
        "    fix:     pulumi config set gcp:project PROJECT_ID"
    )


@pytest.mark.parametrize("value", ["", "My Project", "x"])
def test_what_is_no_project_id_is_refused(config: Config, refused: Refuse, value: str) -> None:
    config["gcp:project"] = value
    assert "is not a Google Cloud project ID  [project-id]" in refused(config)


def test_a_missing_secret_for_a_gated_model_is_refused_with_the_command(config: Config, refused: Refuse) -> None:
    config["llmd-gke:models"][0]["uri"] = "hf://google/gemma-3-27b-it"
    assert refused(config, []) == (
        HEAD + "  llmd-gke:hfToken\n"
        "    the weights of qwen require an accepted licence  [missing-secret]\n"
        "    fix:     pulumi config set --secret llmd-gke:hfToken (then paste a Hugging Face token of an account "
        "that accepted the licence)"
    )


def test_a_gated_model_with_its_secret_is_accepted(config: Config, accepted: Callable[..., Checked]) -> None:
    config["llmd-gke:models"][0]["uri"] = "hf://google/gemma-3-27b-it"
    assert accepted(config, ["llmd-gke:hfToken"])
    assert accepted(config, None), "nobody knows about secrets"


def test_a_stack_for_the_stand_ins_is_refused_elsewhere(
    config: Config, refused: Refuse, accepted: Callable[..., Checked], monkeypatch: pytest.MonkeyPatch
) -> None:
    config["gcp:project"] = "rehearsal"
    assert refused(config) == (
        HEAD + '  gcp:project = "rehearsal"\n'
        "    this stack is for the local stand-ins on this machine and must not be used with Google Cloud  "
        "[rehearsal-only]\n"
        "    allowed: make up, make preview, or plain pulumi inside `make shell`\n"
        "    fix:     run `make up`; for Google Cloud use a stack with your project, such as eu4a"
    )
    monkeypatch.setenv("LLMD_GKE_CLOUD", "rehearsal")
    assert accepted(config)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda c: c["llmd-gke:models"][0].update(hfToken="hf_neverShown"),
        lambda c: c.update({"llmd-gke:hftoken": "neverShown"}),
        lambda c: c.update({"llmd-gke:apiKey": "neverShown"}),
        lambda c: c["llmd-gke:models"][0].update(extraArgs=["--hf-token=neverShown"]),
        lambda c: c["llmd-gke:models"][0].update(extraArgs=["--hf-token", "neverShown"]),
        lambda c: c["llmd-gke:models"][0].update(extraArgs=["--api-key=neverShown", 3]),
        lambda c: c.update({"llmd-gke:models": {"token": "hf_neverShown"}}),
        lambda c: c.update({"llmd-gke:hfToken": "hf_neverShown", "llmd-gke:cluster": None}),
    ],
)
def test_a_secret_in_the_wrong_place_is_not_repeated(
    config: Config, refused: Refuse, spoil: Callable[[Config], None]
) -> None:
    spoil(config)
    assert "neverShown" not in refused(config)


@pytest.mark.parametrize(
    ("spoil", "rule"),
    [
        (lambda c: c["llmd-gke:gateway"].pop("allowPlainHttp"), "plain-http"),
        (lambda c: c["llmd-gke:gateway"].pop("open"), "open-gateway"),
        (lambda c: c["llmd-gke:models"].append({**c["llmd-gke:models"][0], "replicas": 1}), "unique-name"),
        (lambda c: c["llmd-gke:tpuPools"].append(c["llmd-gke:tpuPools"][0]), "unique-name"),
        (lambda c: c["llmd-gke:tpuPools"][0].update(name="system"), "unique-name"),
        (lambda c: c["llmd-gke:models"][0].update(pool="other"), "model-pool"),
        (lambda c: c["llmd-gke:tpuPools"][0].update(topology="4x4", maxNodes=4), "model-multi-host"),
        (lambda c: c["llmd-gke:tpuPools"][0].update(maxNodes=3), "tpu-update-room"),
        (lambda c: c["llmd-gke:tpuPools"][0].update(maxNodes=2), "tpu-pool-size"),
        (lambda c: c["llmd-gke:tpuPools"][0].update(machineType="ct7"), "tpu-machine-type"),
        (lambda c: c["llmd-gke:tpuPools"][0].update(capacity="flex-start"), "tpu-capacity"),
        (lambda c: c["llmd-gke:cluster"].update(endpoint="ip"), "control-plane-access"),
        (lambda c: c.update({"llmd-gke:network": {"nodes": "10.4.0.0/20"}}), "network-overlap"),
        (lambda c: c.update({"llmd-gke:network": {"nodes": "10.0.0.1/20"}}), "cidr"),
        (lambda c: c["llmd-gke:cluster"].update(name="a" * 25), "name-length"),
        (lambda c: c["llmd-gke:models"][0].update(name="a" * 39), "name-length"),
        (lambda c: c["llmd-gke:models"][0].update(tensorParallel=2), "tensor-parallel"),
        (lambda c: c["llmd-gke:models"][0].update(extraArgs=["--port", "1"]), "tpu-server-argument"),
    ],
)
def test_every_rule_of_the_settings_is_reached(
    config: Config, refused: Refuse, spoil: Callable[[Config], None], rule: str
) -> None:
    spoil(config)
    assert f"[{rule}]" in refused(config)


def test_a_pool_without_room_for_updates_is_accepted_when_settings_say_so(
    config: Config, accepted: Callable[..., Checked]
) -> None:
    config["llmd-gke:tpuPools"][0].update(maxNodes=3, updatesNeedStop=True)
    assert accepted(config)


def test_one_model_may_be_at_the_root_and_a_second_is_refused(
    config: Config, refused: Refuse, accepted: Callable[..., Checked]
) -> None:
    first = config["llmd-gke:models"][0]
    first["atRoot"] = True
    assert accepted(config)
    config["llmd-gke:models"].append({**first, "name": "second"})
    config["llmd-gke:tpuPools"][0]["maxNodes"] = 9
    assert "qwen is already served at the root  [root-model]" in refused(config)
