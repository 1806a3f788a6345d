"""600 mutated objects with fixed seeds: the pack judges them all, and says nothing that it must not.

No traceback, no rule that failed, no control character, no message over 2 KB, and none of the planted secrets.
"""

from __future__ import annotations

import copy
import random
import unicodedata
from typing import Any

import pytest

from llmd_gke.redaction import UNPRINTABLE
from policies.groups import ALL
from policies.messages import LONGEST_MESSAGE
from policies.pack import Analyzer
from tests.policies.support import UNKNOWN, Resource, resources, run_pack, secret

CANARY = "Pl4ntedC4n4ry"
SECRETS: tuple[Any, ...] = (
    secret(f"a secret {CANARY}"),
    secret({"HF_TOKEN": CANARY, "deep": [{"a": CANARY}]}),
    f"hf_{CANARY}{CANARY}",
    f"https://user:{CANARY}@example.com",
    f"--api-key={CANARY}",
    f"-----BEGIN PRIVATE KEY-----\nMIIE{CANARY}",
)


def nested(levels: int) -> object:
    value: object = "x"
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 1e308, 2**53, "", " ", "null", "true", "0", "-1", "1e9", "..", "/", "*", "$(id)"),
    *("a\nb", "a\x00b", "\x1b[31mred", "\u202egnp", "\u200b", "é", "😀" * 50, "A" * 70_000, "x y", "a: [b", "- " * 300),
    *(
        "0.0.0.0/0",
        "::/0",
        "10.0.0.0/33",
        "1.2.3.4.5/8",
        "2x2",
        "-2x-2",
        "99999999x9",
        "1.34",
        "v",
        "v1",
        "latest",
        "@",
    ),
    *("ct6e-standard-4t", "registry/x:latest", "kserve", "Pod", "apps/v1", "a" * 300, "{{", "%s%n", UNKNOWN),
    *([], {}, [[]], [None], {"": ""}, {"a": None}, {"a\nb": 1}, {"\x1b": 1}, [{"name": None}], ["x" * 1000] * 30),
    *(nested(10), nested(60), [0] * 200, {str(number): number for number in range(300)}),
    {"apiVersion": "v1", "kind": "List", "items": [{"kind": "Pod"}, None, 1]},
    {"apiVersion": 1, "kind": []},
    "apiVersion: v1\nkind: Pod\nspec: &a [*a]\n---\n: : :\n---\nkind: [",
    *SECRETS,
)
EXAMPLES = [
    one for rule in ALL for example in (*rule.examples.refused, *rule.examples.accepted) for one in resources(example)
]
FIELDS = ["spec", "kind", "apiVersion", "metadata", "yaml", "objs", "template", "containers", "items", "name", "args"]


def locations(value: Any, levels: int = 12) -> list[tuple[Any, Any]]:
    """Every table or list with every key in it. A planted secret stays whole."""
    if not isinstance(value, dict | list) or levels == 0 or value in SECRETS:
        return []
    keys: list[Any] = list(value)[:40] if isinstance(value, dict) else list(range(len(value)))[:40]
    return [(value, key) for key in keys] + [inner for key in keys for inner in locations(value[key], levels - 1)]


def mutated(random_: random.Random) -> Resource:
    one = random_.choice(EXAMPLES)
    inputs: Any = copy.deepcopy(dict(one.inputs))
    for _ in range(random_.choice((1, 1, 2, 4))):
        result = locations(inputs)
        if not result:
            break
        table, key = random_.choice(result)
        value = copy.deepcopy(random_.choice(SECRETS if random_.random() < 0.2 else HOSTILE))
        match random_.randrange(5):
            case 0 if isinstance(table, dict):
                table[random_.choice(FIELDS)] = value
            case 1:
                del table[key]
            case _:
                table[key] = value
    type_ = random_.choice(EXAMPLES).type if random_.random() < 0.1 else one.type
    name = random_.choice((one.name, one.name, one.name, "\x1b[0m" + "n" * 3000, f"hf_{CANARY}{CANARY}"))
    return Resource(type_, name, inputs, one.protect)


@pytest.mark.parametrize("seed", range(6))
def test_hostile_objects_are_judged_in_short_printable_messages(seed: int) -> None:
    random_ = random.Random(seed)
    analyzer = Analyzer()
    diagnostics = run_pack([mutated(random_) for _ in range(100)], analyzer)
    assert len(diagnostics) > 20
    for one in diagnostics:
        assert "this rule failed" not in one.text, one
        assert CANARY not in one.text, one
        assert len(one.text.encode()) <= LONGEST_MESSAGE, one
        assert not {two for two in set(one.text) if unicodedata.category(two) in UNPRINTABLE and two != "\n"}, one
