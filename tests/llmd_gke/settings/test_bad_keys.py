"""Keys, sections and files that do not exist or are mistyped: each is refused with the one that is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmd_gke.settings import SettingsError, load_stack
from tests.llmd_gke.settings.conftest import HEAD, Accept, Config, Refuse


def test_an_unknown_key_is_refused_with_a_suggestion(config: Config, refused: Refuse) -> None:
    config["llmd-gke:cluster"]["relaseChannel"] = "RAPID"
    assert refused(config) == (
        HEAD + "  llmd-gke:cluster.relaseChannel\n"
        "    there is no such setting  [unknown-key]\n"
        "    allowed: name, existing, zone, controlPlane, releaseChannel, minVersion, endpoint, authorizedNetworks, "
        "privateNodes, deletionProtection, protect, systemZone, systemPool, labels, maintenance, encryption, "
        "binaryAuthorization, secretManager, audit\n"
        "    fix:     did you mean releaseChannel?"
    )


def test_an_unknown_section_is_refused_with_a_suggestion(config: Config, refused: Refuse) -> None:
    config["llmd-gke:tpuPool"] = []
    assert refused(config) == (
        HEAD + "  llmd-gke:tpuPool\n"
        "    there is no such setting  [unknown-key]\n"
        "    allowed: cluster, network, pools, gateway, frontDoor, platform, monitoring, registry, imageCache, "
        "budget, storage, models\n"
        "    fix:     did you mean pools?"
    )


def test_a_key_that_resembles_nothing_is_to_be_removed(config: Config, refused: Refuse) -> None:
    config["llmd-gke:models"][0]["zzz"] = 1
    message = refused(config)
    assert "llmd-gke:models[0].zzz\n" in message, "the value of a key that nobody knows may be a secret"
    assert message.endswith("fix:     remove it")


def test_other_peoples_namespaces_are_none_of_our_business(config: Config, accepted: Accept) -> None:
    config["kubernetes:suppressDeprecationWarnings"] = "true"
    config["gcp:region"] = "europe-west4"
    config["other:models"] = []
    assert accepted(config)


@pytest.mark.parametrize(
    ("key", "text"), [("llmd-gk:cluster", "no program reads this namespace"), ("cluster", "this key has no namespace")]
)
def test_a_section_under_a_mistyped_namespace_is_named(config: Config, refused: Refuse, key: str, text: str) -> None:
    config[key] = config.pop("llmd-gke:cluster")
    message = refused(config)
    assert f"  {key}\n    {text}  [unknown-key]" in message
    assert "did you mean llmd-gke:cluster?" in message
    assert "europe-west4-a" not in message.split("tpu-zone")[0]
    assert "this setting is missing" not in message


def test_a_mistyped_stack_leads_to_the_one_that_is_meant(root: Path) -> None:
    for stack in ("EU4A", "eu4", "Pulumi.eu4a.yaml"):
        with pytest.raises(SettingsError, match=r"did you mean STACK=eu4a\?"):
            load_stack(root, stack)
    for stack, fix in {
        "../eu4a": "STACK=eu4a",
        "my-organization/llmd-gke/eu4a": "STACK=eu4a",
        "./Pulumi.eu4a.yaml": "STACK=eu4a",
        "eu4a,prod": "STACK=eu4a, or for a new one make new STACK=eu4a-prod",
        "my own": "make new STACK=my-own",
        "/": "make new STACK=demo",
    }.items():
        with pytest.raises(SettingsError, match=f"is not a stack name(?s:.*)fix:     {fix}$"):
            load_stack(root, stack)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("config:\n  a: Düsseldorf\n".encode("latin-1"), "is not UTF-8: byte 0xfc in line 2|save the file as UTF-8"),
        (b"config:\n  a: x\0y\n", "character U+0000 in line 2, column 7|delete that character"),
        (b"config:\n\ta: b\n", "line 2, column 1|indent with spaces"),
        ("config:\n  a\uff1a\n    b: c\n".encode(), "write `:` instead of the fullwidth colon (U+FF1A) in line 2"),
        ("config:\n  a:\u00a0b\n  c: d\n".encode(), "write ` ` instead of the no-break space (U+00A0) in line 2"),
        (b"config: [\n", "is not YAML: expected the node content, but found '<stream end>', line 2, column 1"),
        ("config: {}\n".encode("utf-16"), "(it is probably UTF-16)"),
        (b"config:\n<<<<<<< HEAD\n  a:b: 1\n=======\n  a:b: 2\n>>>>>>> x\n", "a merge left its conflict in line 2"),
        (b"text", "has no map `config:`"),
        (b"config: [1]\n", "has no map `config:`"),
        (b"config: &a\n  b: *a\n", "aliases (`*name`) are not supported in a stack file"),
        (b"config: " + b"[" * 500, "nested more than 32 levels deep"),
        (b"config:\n  a: !!binary aGk=\n", "could not determine a constructor"),
        (b"config: {a:b: 1}\nllmd-gke:budget: {}\n", "llmd-gke:budget beside `config:`|indent it, below `config:`"),
        (b"config:\n  llmd-gke: {cluster: {}}\n", "settings below this key are not read|llmd-gke:cluster for the key"),
    ],
)
def test_a_file_that_is_no_stack_file_is_named_with_the_place_and_the_fix(
    tmp_path: Path, content: bytes, text: str
) -> None:
    (tmp_path / "Pulumi.mine.yaml").write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        load_stack(tmp_path, "mine")
    assert [part for part in text.split("|") if part not in str(caught.value)] == []
