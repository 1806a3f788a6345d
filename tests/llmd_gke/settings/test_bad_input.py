"""Each kind of bad input gives one clear message: key, value, what is allowed, the fix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from llmd_gke.settings import Checked, SettingsError, load_stack
from tests.llmd_gke.settings.conftest import Config, Refuse

HEAD = "Pulumi.eu4a.yaml has 1 problem:\n\n"


def test_an_unknown_key_is_refused_with_a_suggestion(config: Config, refused: Refuse) -> None:
    config["llmd-gke:cluster"]["relaseChannel"] = "RAPID"
    assert refused(config) == (
        HEAD + "  llmd-gke:cluster.relaseChannel\n"
        "    there is no such setting  [unknown-key]\n"
        "    allowed: name, zone, controlPlane, releaseChannel, minVersion, endpoint, authorizedNetworks, "
        "privateNodes, deletionProtection, protect, systemZone, systemPool, labels, maintenance, encryption, "
        "binaryAuthorization, secretManager, audit\n"
        "    fix:     did you mean releaseChannel?"
    )


def test_an_unknown_section_is_refused_with_a_suggestion(config: Config, refused: Refuse) -> None:
    config["llmd-gke:tpuPool"] = []
    assert refused(config) == (
        HEAD + "  llmd-gke:tpuPool\n"
        "    there is no such setting  [unknown-key]\n"
        "    allowed: cluster, network, tpuPools, gateway, frontDoor, platform, monitoring, registry, budget, "
        "storage, models\n"
        "    fix:     did you mean tpuPools?"
    )


def test_a_key_that_resembles_nothing_is_to_be_removed(config: Config, refused: Refuse) -> None:
    config["llmd-gke:models"][0]["zzz"] = 1
    message = refused(config)
    assert "llmd-gke:models[0].zzz\n" in message, "the value of a key that nobody knows may be a secret"
    assert message.endswith("fix:     remove it")


def test_other_peoples_namespaces_are_none_of_our_business(config: Config, accepted: Callable[..., Checked]) -> None:
    config["kubernetes:suppressDeprecationWarnings"] = "true"
    config["gcp:region"] = "europe-west4"
    assert accepted(config)


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
        ("models", "servedModelName", "a b", "has the wrong format|allowed: a value that matches ^"),
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


@pytest.mark.parametrize(
    ("key", "text"),
    [("llmd-gk:cluster", "no program reads this namespace"), ("cluster", "this key has no namespace")],
)
def test_a_section_under_a_mistyped_namespace_is_named(config: Config, refused: Refuse, key: str, text: str) -> None:
    config[key] = config.pop("llmd-gke:cluster")
    message = refused(config)
    assert f"  {key}\n    {text}  [unknown-key]" in message
    assert "did you mean llmd-gke:cluster?" in message
    assert "europe-west4-a" not in message.split("tpu-zone")[0]


def test_a_key_in_snake_case_is_refused_with_the_one_that_is_meant(config: Config, refused: Refuse) -> None:
    pool = config["llmd-gke:tpuPools"][0]
    pool["max_nodes"] = pool.pop("maxNodes")
    assert "did you mean maxNodes?" in refused(config)


def test_a_mistyped_stack_leads_to_the_one_that_is_meant(root: Path) -> None:
    for stack in ("EU4A", "eu4", "Pulumi.eu4a.yaml"):
        with pytest.raises(SettingsError, match=r"did you mean STACK=eu4a\?"):
            load_stack(root, stack)
    with pytest.raises(SettingsError, match="is not a stack name"):
        load_stack(root, "../eu4a")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("config:\n  a: Düsseldorf\n".encode("latin-1"), "is not UTF-8: byte 0xfc in line 2|save the file as UTF-8"),
        (b"config:\n  a: x\0y\n", "character U+0000 in line 2, column 7|delete that character"),
        (b"config:\n\ta: b\n", "line 2, column 1|indent with spaces"),
        (b"config: &a\n  b: *a\n", "aliases (`*name`) are not supported in a stack file"),
        (b"config: " + b"[" * 500, "nested more than 32 levels deep"),
        (b"config:\n  a: !!binary aGk=\n", "could not determine a constructor"),
    ],
)
def test_a_file_that_is_no_stack_file_is_named_with_the_place_and_the_fix(
    tmp_path: Path, content: bytes, text: str
) -> None:
    (tmp_path / "Pulumi.mine.yaml").write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        load_stack(tmp_path, "mine")
    assert [part for part in text.split("|") if part not in str(caught.value)] == []


def test_many_problems_fit_into_two_kilobytes_and_all_are_named(config: Config, refused: Refuse) -> None:
    model = config["llmd-gke:models"][0]
    config["llmd-gke:models"] = [{**model, "replicas": "x" * 500, "dtype": 7} for _ in range(9)]
    message = refused(config)
    assert len(message.encode()) <= 2048
    assert message.startswith("Pulumi.eu4a.yaml has 18 problems:")
    assert "more, shown in full once these are corrected: " in message
    assert "llmd-gke:models[8].dtype" in message


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


def test_two_wrong_things_give_two_findings_in_one_message(config: Config, refused: Refuse) -> None:
    config["llmd-gke:cluster"]["zone"] = "europe-west4-b"
    config["llmd-gke:models"][0]["replicas"] = "3"
    message = refused(config)
    assert message.startswith("Pulumi.eu4a.yaml has 2 problems:")
    assert "llmd-gke:models[0].replicas" in message
    assert "llmd-gke:cluster.zone" in message


@pytest.mark.parametrize("entry", ["text", None, 7, ["list"], {}])
@pytest.mark.parametrize("section", ["tpuPools", "models"])
def test_a_broken_list_entry_does_not_hide_what_else_is_wrong(
    config: Config, refused: Refuse, section: str, entry: object
) -> None:
    config[f"llmd-gke:{section}"].append(entry)
    config["llmd-gke:cluster"]["name"] = "Bad_Name"
    message = refused(config)
    assert f"llmd-gke:{section}[1]" in message
    assert "llmd-gke:cluster.name" in message


@pytest.mark.parametrize("section", ["cluster", "tpuPools", "models"])
@pytest.mark.parametrize("value", [None, "text", 7, "absent"])
def test_a_broken_section_is_the_only_finding_where_nothing_else_is_wrong(
    config: Config, refused: Refuse, section: str, value: object
) -> None:
    config.pop(f"llmd-gke:{section}")
    if value != "absent":
        config[f"llmd-gke:{section}"] = value
    message = refused(config)
    assert message.startswith(f"{HEAD}  llmd-gke:{section}"), "no finding about what only stands in for it"


@pytest.mark.parametrize(
    ("section", "value"),
    [
        ("network", {"nodes": 7}),
        ("gateway", {"exposure": "external", "allowPlainHttp": "true"}),
        ("cluster", {"name": "c", "zone": "europe-west4-a", "endpoint": "ip", "authorizedNetworks": {"office": 7}}),
        ("cluster", {"name": "c", "zone": "europe-west4-a", "systemPool": {"minNodes": 9, "maxNodes": "9"}}),
    ],
)
def test_rules_that_compare_do_not_judge_what_is_misshapen(
    config: Config, refused: Refuse, section: str, value: object
) -> None:
    config[f"llmd-gke:{section}"] = value
    assert refused(config).startswith(HEAD)


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
