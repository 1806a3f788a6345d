"""Each kind of bad value gives one clear message: key, value, what is allowed, the fix."""

from __future__ import annotations

import pytest

from tests.llmd_gke.settings.conftest import HEAD, Accept, Config, Refuse


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
            "    fix:     write a number, without quotes",
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
    config: Config, refused: Refuse, *, section: str, key: str, value: object, message: str
) -> None:
    config[f"llmd-gke:{section}"][0][key] = value
    assert refused(config) == f"{HEAD}  llmd-gke:{section}[0].{message}"


def test_a_section_that_is_no_table_is_refused_in_words_of_the_file(config: Config, refused: Refuse) -> None:
    config["llmd-gke:gateway"] = "external"
    assert refused(config) == (
        HEAD + '  llmd-gke:gateway = "external"\n'
        "    this must be a map of settings  [wrong-value]\n"
        "    allowed: class, existing, mesh, exposure, allowPlainHttp, open, tls, domain, redirectHttp, "
        "allowGlobalAccess, dnsZone, dnsTtlSeconds\n"
        "    fix:     one `key: value` per line"
    )


@pytest.mark.parametrize("value", [123456789012, "123456789012"])
def test_the_number_of_a_project_leads_to_its_id(config: Config, refused: Refuse, value: object) -> None:
    config["gcp:project"] = value
    message = refused(config)
    assert "quotes" not in message
    assert message.endswith(
        "gcloud projects describe 123456789012 --format 'value(projectId)' prints the project ID; set that"
    )


def test_an_empty_list_is_refused(config: Config, refused: Refuse) -> None:
    config["llmd-gke:models"] = []
    assert "this list is empty  [wrong-value]\n    allowed: at least one entry" in refused(config)


def test_a_missing_project_is_refused_with_the_command(config: Config, refused: Refuse) -> None:
    del config["gcp:project"]
    assert refused(config) == (
        HEAD + "  gcp:project\n"
        "    this setting is missing  [missing-key]\n"
        "    fix:     pulumi config set gcp:project PROJECT_ID"
    )


@pytest.mark.parametrize(
    ("section", "changes", "message"),
    [
        (
            "models",
            {"uri": "hf://google/gemma-3-27b-it"},
            "hfToken\n    the weights of qwen require an accepted licence  [missing-secret]\n"
            "    fix:     pulumi config set --secret llmd-gke:hfToken (then paste a Hugging Face token of an account "
            "that accepted the licence)",
        ),
        (
            "models",
            {"privateImage": True},
            "pullSecret\n    privateImage of qwen requires it  [missing-secret]\n"
            "    fix:     pulumi config set --secret llmd-gke:pullSecret "
            "(then paste the contents of a .dockerconfigjson)",
        ),
        (
            "gateway",
            {"tls": {"fromConfig": True}, "allowPlainHttp": False},
            "tlsKey\n    llmd-gke:gateway.tls.fromConfig requires it  [missing-secret]\n    fix:     pulumi config set "
            "--secret llmd-gke:tlsKey (then paste the private key in PEM format)",
        ),
    ],
)
def test_a_missing_secret_is_refused_with_the_command(
    config: Config, refused: Refuse, section: str, changes: dict[str, object], message: str
) -> None:
    place = config[f"llmd-gke:{section}"]
    (place[0] if isinstance(place, list) else place).update(changes)
    config["llmd-gke:gateway"] = {key: value for key, value in config["llmd-gke:gateway"].items() if value is not False}
    assert refused(config, ["llmd-gke:tlsCertificate"]) == f"{HEAD}  llmd-gke:{message}"


def test_a_stack_for_the_stand_ins_is_refused_elsewhere(
    config: Config, refused: Refuse, accepted: Accept, monkeypatch: pytest.MonkeyPatch
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
