"""1,300 hostile settings with fixed seeds: one clear message or settings, whatever comes in.

No traceback, no control character, no message over 2 KB, and none of the planted secrets.
"""

from __future__ import annotations

import copy
import random
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.redaction import UNPRINTABLE
from llmd_gke.settings import SettingsError, load_stack, parse
from llmd_gke.settings.errors import LONGEST_MESSAGE, describe
from tests.llmd_gke.settings.conftest import ROOT, Config

CANARY = "Pl4ntedC4n4ry"
SECRETS: tuple[Any, ...] = (
    f"hf_{CANARY}{CANARY}",
    f"-----BEGIN PRIVATE KEY-----\nMIIE{CANARY}\n-----END PRIVATE KEY-----",
    f"https://user:{CANARY}@example.com",
    f"--api-key={CANARY}",
    f"--hf-token {CANARY}",
    ["--hf-token", CANARY],
    {"HF_TOKEN": CANARY},
    {"password": {"deep": [CANARY]}},
    [{"name": "API_KEY", "value": CANARY}],
    {f"ghp_{CANARY}{CANARY}": 1},
    f'{{"auths": {{"r": {{"auth": "{CANARY}"}}}}}}',
)


def nested(levels: int, *, table: bool) -> object:
    value: object = "x"
    for _ in range(levels):
        value = {"a": value} if table else [value]
    return value


DEEP = (nested(500, table=True), nested(500, table=False), nested(3000, table=False))


def fresh(value: Any) -> Any:
    """A copy, so that nothing is changed for the next case; of what is too deep to be copied, the thing itself."""
    try:
        return copy.deepcopy(value)
    except RecursionError:
        return value


HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**4000, -(2**70), 0.0, 1e308, float("inf"), float("nan"), b"bytes",
    "", " ", "null", "true", "yes", "~", "0", "0x10", "1e9", "-", "--", ".", "..", "../../etc", "/", "//", "*",
    "$(id)", "`id`", "${HOME}", "%s%n", "{}", "[]", "'", '"', "\\", "a\nb", "a\rb", "a\tb", "a\x00b", "\x1b[31mred",
    "\u202egnp", "\u200b", "\ufeff", "\ud800", "\udc80x", "é", "名前", "😀" * 50, "a" * 300, "A" * 70_000, "x y", "a,b",
    "a=b", "<script>", "hf://", "hf:///", "gs://b/../../../etc", "s3://", "pvc://a/../b", "oci://x:latest",
    "0.0.0.0/0", "::/0", "10.0.0.0/33", "10.0.0.0/-1", "1.2.3.4.5/8", "999.1.1.1/8", "0.0.0.0/00", "europe-west4-a",
    "2x2", "4x4x4", "-2x-2", "2x", "99999999999999x9", "1.34", "25:00", "2026-02-30", "MO",
    "projects/p/locations/l/keyRings/r/cryptoKeys/k\n", [], {}, [[]], [None], {"": ""}, {"a": None}, {"a\nb": 1},
    {"\x1b": 1}, {"\ud800": 1}, {1: 2}, {None: 1}, {True: 1}, nested(30, table=True), *DEEP, [0] * 500,
    {str(number): number for number in range(500)}, ["x" * 1000] * 30, {"secure": "v1:abc"},
    {"name": "x", "value": "y"}, *SECRETS,
)  # fmt: skip
Location = tuple[Any, Any]


def locations(value: Any, levels: int = 8) -> list[Location]:
    """Every table or list with every key in it, as deep as settings are. A planted secret stays whole."""
    if not isinstance(value, dict | list) or levels == 0 or value in SECRETS:
        return []
    keys: list[Any] = list(value)[:50] if isinstance(value, dict) else list(range(len(value)))[:50]
    return [(value, key) for key in keys] + [inner for key in keys for inner in locations(value[key], levels - 1)]


def full(stack: str) -> Config:
    from llmd_gke.settings.load import read_config

    config: Config = read_config(ROOT, stack)
    config["gcp:project"] = "my-project"
    config.pop("llmd-gke:hfToken", None)
    config.setdefault("llmd-gke:network", {}).setdefault("egress", {})["exceptions"] = ["10.9.0.0/16"]
    config["llmd-gke:cluster"] |= {"labels": {"team": "a"}, "authorizedNetworks": {"office": "192.0.2.0/24"}}
    config["llmd-gke:cluster"]["maintenance"] = {
        "exclusions": [{"name": "a", "start": "2026-12-18", "end": "2026-12-20"}]
    }
    config["llmd-gke:cluster"]["encryption"] = {"disks": "projects/p/locations/l/keyRings/r/cryptoKeys/k"}
    config["llmd-gke:models"][0] |= {"extraArgs": ["--seed=7"], "compileCache": "gs://bucket/path"}
    config["llmd-gke:models"][0]["scheduler"] = {
        "plugins": [{"type": "queue-scorer", "weight": 1, "parameters": {"a": 1}}]
    }
    return config


BASES = [full(stack) for stack in ("eu4a", "prod", "dev")]
KEYS = ["name", "zone", "key", "hfToken", "tlskey", "secret", "env", "x", "max_nodes", "models", "__proto__", "secure"]


def spoil(random_: random.Random, config: Config) -> None:
    table, key = random_.choice(locations(config))
    value = fresh(random_.choice(SECRETS if random_.random() < 0.2 else HOSTILE))
    match random_.randrange(6):
        case 0 if isinstance(table, dict):
            table[random_.choice(KEYS)] = value
        case 1 if isinstance(table, dict):
            del table[key]
        case 2 if isinstance(table, list):
            table.extend(fresh(table[:3]))
        case 3:
            config[f"llmd-gke:{random_.choice(KEYS)}"] = value
        case _:
            table[key] = value


def complain(make: Callable[[], Any]) -> str:
    try:
        checked = make()
    except SettingsError as error:
        message = str(error)
        assert len(message.encode()) <= LONGEST_MESSAGE
    else:
        message = "\n".join(describe(warning) for warning in checked.warnings)
        assert all(len(describe(warning).encode()) <= LONGEST_MESSAGE for warning in checked.warnings)
    assert not {one for one in set(message) if one != "\n" and unicodedata.category(one) in UNPRINTABLE}
    assert CANARY not in message
    return message


@pytest.mark.parametrize("seed", range(8))
def test_hostile_settings_give_one_clear_message(seed: int) -> None:
    random_ = random.Random(seed)
    refused = 0
    for _ in range(100):
        config = copy.deepcopy(random_.choice(BASES))
        for _ in range(random_.choice((1, 1, 1, 2, 5))):
            spoil(random_, config)
        secrets = None if random_.random() < 0.5 else ["llmd-gke:hfToken"]
        refused += bool(complain(lambda: parse(config, "fuzz", secrets)))  # noqa: B023 - called at once
    assert refused > 50


def test_each_hostile_value_at_the_top_of_half_of_the_sections_gives_a_message() -> None:
    sections = [key for key in BASES[0] if key.startswith("llmd-gke:")]
    assert sections
    assert HOSTILE
    for number, section in enumerate(sections):
        for value in HOSTILE[number % 2 :: 2]:
            config = copy.deepcopy(BASES[0]) | {section: fresh(value)}
            complain(lambda: parse(config, "fuzz"))  # noqa: B023


PIECES = [
    b"&a [*a, *a]", b"*x", b"<<: *x", b"!!python/object:os.system x", b"!!binary aGk=", b"!!set {a}", b"\t", b"\x00",
    b"\xff\xfe", b"\xc3", b"\r", b"---\n", b"...\n", b"? [a]\n: b\n", b"{" * 300, b"[" * 3000, b"- " * 3000, b"|\n",
    b">",    b"'", b'"', b"%YAML 1.1\n", b"0o777", b"1_000", b"0777", b"1:30", b".inf", b"~", b": ", b"- ", b"#", b"@",
    b"\xe2\x80\xae",    f"hf_{CANARY}: x: y\n".encode(), b"9" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
def test_hostile_stack_files_give_one_clear_message(seed: int, tmp_path: Path) -> None:
    random_ = random.Random(seed)
    text = (ROOT / "Pulumi.eu4a.yaml").read_bytes()
    for _ in range(100):
        content = text
        for _ in range(random_.choice((1, 1, 3))):
            index = random_.randrange(len(content))
            piece = random_.choice([*PIECES, bytes([random_.randrange(256)])])
            content = content[:index] + piece + content[index + random_.choice((0, 0, 1, 40)) :]
        (tmp_path / "Pulumi.fuzz.yaml").write_bytes(content)
        complain(lambda: load_stack(tmp_path, "fuzz"))
