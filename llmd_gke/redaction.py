"""Takes secrets out of text that people read: messages, comments, reports. The one place that knows how secrets look.

A value is hidden for the name beside it (``HF_TOKEN``, ``tls.key``), for its own shape (a PEM block, ``hf_…``), or
because the caller knows it to be secret. Whatever is shortened is masked first: a piece of a secret no longer has the
shape of one.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import cast

HIDDEN = "(not shown)"
SHORTEST_SECRET = 4
"""Characters. Shorter values are not looked for in messages: that would take ordinary words out of them."""
DEEPEST = 6
"""Levels of tables and lists that are shown."""
MOST_ENTRIES = 40
"""Entries of one table or list that are shown."""

SECRET_SHAPES = re.compile(
    r"-----BEGIN [A-Z0-9 ]+-----(?s:.*?)(?:-----END [A-Z0-9 ]+-----|$)"  # PEM, also without its end
    r"|(?<![A-Za-z0-9])(?:"
    r"hf_\w+"  # Hugging Face
    r"|(?:gh[pousr]|github_pat|glpat|npm|dop_v1|whsec|xox[abeoprs])[_-][A-Za-z0-9_-]{8,}"  # GitHub and others
    r"|[sr]k-[A-Za-z0-9_-]{16,}|pul-[0-9a-f]{8,}"  # OpenAI and alike, Pulumi Cloud
    r"|AIza[\w-]{8,}|GOCSPX-[\w-]+|ya29\.[\w.-]+|1//0[\w-]{8,}"  # Google: API key, client secret, access and refresh
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,}"  # AWS
    r"|eyJ[\w-]{8,}(?:\.[\w-]*)*)"  # JSON web tokens
    r"|(?<=[Bb]earer )\S+|(?<=[Bb]asic )[\w+/=-]{8,}"
    r"|(?<=://)[^\s/@\"']+:[^\s@\"']*(?=@)"  # user:password@ of a URL
    r"|(?<![\w+/])(?=[A-Z0-9+_]*[a-z])(?=[a-z0-9+_]*[A-Z])(?=[A-Za-z+_]*[0-9])[A-Za-z0-9+_]{32,}={0,2}"
)
"""Secrets by their shape. The last one: any long run of letters of both cases and digits."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_WORDS = frozenset({"auth", "authorization", "bearer", "credential", "credentials", "pass", "pw", "pwd"})
_SECRET_ENDS = ("token", "secret", "password", "passwd", "passphrase", "key", "kubeconfig")
_HARMLESS = re.compile(
    r"secret_?(?:manager|name|ref)|key_?(?:ring|name|ref|word)|private_?(?:nodes|image|endpoint)", re.I
)
_HARMLESS_VALUES = frozenset({"true", "false", "null", "None", HIDDEN.split()[0]})
_ASSIGNMENT = re.compile(r"""(?<![\w.-])([\w.-]{2,64})(["']?\s*[=:]\s*["']?|["']?,\s*["'])([^\s"',;}\]]+)""")
_FLAG = re.compile(r"""(?<![\w-])(--?[A-Za-z][\w-]*)(\s+|=|["'],\s*["'])([^\s"',\]]+)""")


def is_secret_name(name: str) -> bool:
    """Whether a value of this name is secret: ``HF_TOKEN``, ``--api-key``, ``tlskey``; not ``maxTokens``."""
    rest = _HARMLESS.sub("", name)
    words = [word.lower() for word in _WORDS.findall(rest)]
    if words and words[-1] == "private":
        return True
    return any(word in _SECRET_WORDS or word.endswith(_SECRET_ENDS) for word in words)


def without(text: str, secrets: Collection[str]) -> str:
    """The text without values that are known to be secret."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, HIDDEN)
    return text


def without_in(value: object, secrets: Collection[str]) -> object:
    """A copy of a value without texts that are known to be secret."""
    if isinstance(value, str):
        return without(value, secrets)
    if isinstance(value, Mapping):
        table = cast("Mapping[object, object]", value)
        return {without(str(key), secrets): without_in(inner, secrets) for key, inner in table.items()}
    if isinstance(value, list | tuple):
        return [without_in(entry, secrets) for entry in cast("list[object]", value)]
    return HIDDEN if str(value) in secrets and not isinstance(value, bool) and value is not None else value


def masked(text: str) -> str:
    """The text without what looks like a secret: by its shape, or by the name in front of it."""
    text = shapes_masked(text)
    text = _FLAG.sub(_without_value, text)
    return _ASSIGNMENT.sub(_without_value, text)


def shapes_masked(text: str) -> str:
    """The text without what has the shape of a secret: enough for sentences of ours, which `key: value` is part of."""
    return SECRET_SHAPES.sub(HIDDEN, text)


def _without_value(match: re.Match[str]) -> str:
    name, between, value = match.groups()
    if not is_secret_name(name) or name == "--secret" or value in _HARMLESS_VALUES or value.startswith("//"):
        return match.group()  # `pulumi config set --secret KEY` names a key
    return f"{name}{between}{HIDDEN}"


def shown(value: object, name: str = "", *, longest: int = 120) -> str:
    """A value as one line of JSON, at most ``longest`` characters, secrets hidden. ``name`` is its key."""
    text = masked(json.dumps(_readable(value, name, DEEPEST), ensure_ascii=False))
    return shortened(printable(text), longest)


def shortened(text: str, longest: int) -> str:
    """At most ``longest`` characters of a text that is masked already."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


def printable(text: str) -> str:
    r"""The text with control characters, direction marks and lone surrogates written as ``\u…``; newlines stay."""
    return "".join(
        one if one == "\n" or unicodedata.category(one) not in _UNPRINTABLE else _escaped(one) for one in text
    )


_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _readable(value: object, name: str, levels: int) -> object:
    """A copy without secrets, no deeper and no longer than anybody reads."""
    if value is None or isinstance(value, bool):
        return value
    if is_secret_name(name):
        return HIDDEN
    if isinstance(value, str | int | float):
        return masked(value) if isinstance(value, str) else value
    if levels == 0:
        return "..."
    if isinstance(value, Mapping):
        return _readable_table(cast("Mapping[object, object]", value), levels)
    if isinstance(value, list | tuple):
        return _readable_list(list(cast("list[object]", value)), levels)
    return masked(str(value))


def _readable_table(table: Mapping[object, object], levels: int) -> dict[str, object]:
    if "secure" in table and len(table) == 1:
        return {"secure": HIDDEN}
    # In a list of variables the name is a value, too: `name: HF_TOKEN`, `value: …`.
    beside = next((text for key in ("name", "key") if "value" in table and isinstance(text := table.get(key), str)), "")
    names = {"value": beside, "key": ""} if beside else {}
    return {
        masked(str(key)): _readable(inner, names.get(str(key), str(key)), levels - 1)
        for key, inner in list(table.items())[:MOST_ENTRIES]
    }


def _readable_list(entries: list[object], levels: int) -> list[object]:
    """After ``--hf-token`` comes a token, and a PEM block may come line by line."""
    texts = [entry for entry in entries if isinstance(entry, str)]
    if SECRET_SHAPES.search("\n".join(texts)) and any("-----BEGIN" in text for text in texts):
        return [HIDDEN]
    found: list[object] = []
    for place, entry in enumerate(entries[:MOST_ENTRIES]):
        before = entries[place - 1] if place else None
        flag = before if isinstance(before, str) and before.startswith("-") and "=" not in before else ""
        found.append(_readable(entry, flag if isinstance(entry, str) and not entry.startswith("-") else "", levels - 1))
    return found


def texts_in(value: object) -> Iterator[str]:
    """Every text and number inside a value, as text: what must not be repeated where the whole is secret."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            waiting.extend(cast("Mapping[object, object]", one).values())
        elif isinstance(one, list | tuple):
            waiting.extend(cast("list[object]", one))
        elif isinstance(one, str):
            yield one
            yield from (line.strip() for line in one.splitlines() if len(line.strip()) >= SHORTEST_SECRET)
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield str(one)
