"""Removes secrets from text that people read: messages, comments, reports.

A value is hidden because of its name (``HF_TOKEN``, ``tls.key``), because of its own shape (a PEM block, ``hf_…``), or
because the caller knows that it is secret. Texts are masked before they are shortened: part of a secret no longer has
the shape of one.
"""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import cast

HIDDEN = "(not shown)"
SHORTEST_SECRET = 4
"""Minimum length of a secret in characters: shorter ones stay in messages, since they match ordinary words."""
SHORTEST_NAMED_SECRET = 8
"""Minimum length in characters of a value that is secret by its name: the label ``key: models`` is not."""
DEEPEST = 8
MOST_ENTRIES = 40

SECRET_SHAPES = re.compile(
    r"-----BEGIN [A-Z0-9 ]+-----(?s:.*?)(?:-----END [A-Z0-9 ]+-----|$)"  # PEM, also without its end
    r"|(?<![A-Za-z0-9])(?:"
    r"(?<!--)hf_\w+|hf_\w{20,}"  # Hugging Face, but not the argument `--hf_token`
    r"|(?:gh[pousr]|github_pat|glpat|npm|dop_v1|whsec|xox[abeoprs])[_-][A-Za-z0-9_-]{8,}"  # GitHub and others
    r"|[sr]k-[A-Za-z0-9_-]{16,}|pul-[0-9a-f]{8,}"  # OpenAI and alike, Pulumi Cloud
    r"|AIza[\w-]{8,}|GOCSPX-[\w-]+|ya29\.[\w.-]+|1//0[\w-]{8,}"  # Google: API key, client secret, access and refresh
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,}"  # AWS
    r"|eyJ[\w-]{8,}(?:\.[\w-]*)*)"  # JSON web tokens
    r"|(?:(?<=[Bb]earer )|(?<=[Bb]asic )(?=[\w+/=-]{8}))(?!(?:tokens?|authentication)[,;.)]?(?:\s|$))\S+"
    r"|(?<=://)[^\s/@\"']+:[^\s@\"']*(?=@)"  # user:password@ of a URL
    r"|(?<![\w+/])(?=[A-Z0-9+_]*[a-z])(?=[a-z0-9+_]*[A-Z])(?=[A-Za-z+_]*[0-9])[A-Za-z0-9+_]{32,}={0,2}"
)
"""Shapes of secrets. The last alternative: any long run of lower-case and upper-case letters and digits."""

_DOUBTFUL_NAMES = re.compile(
    r"token|secret|password|passphrase|credential|private|kubeconfig|certificate|api_?key|tls\.", re.IGNORECASE
)
_DOUBTFUL_TEXTS = re.compile(r"-----BEGIN|[0-9A-Za-z+/_-]{40,}")
"""The beginning of a key, and any long run without a space, dot or colon."""

_KEY_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_WORDS = frozenset({"auth", "authorization", "bearer", "credential", "credentials", "pass", "pw", "pwd"})
_SECRET_ENDS = ("token", "secret", "password", "passwd", "passphrase", "key", "kubeconfig")
_HARMLESS = re.compile(
    r"secret_?(?:manager|name|ref)|key_?(?:ring|name|ref|word)|private_?(?:nodes|image|endpoint)"
    r"|token_?(?:milli)?seconds",
    re.I,
)
_SHORT_ARGUMENT = re.compile(r"--(?:api[-_]ke?|hf[-_]t(?:oke?|o)?)")
"""``--api-key`` and ``--hf-token`` in abbreviations that vLLM completes."""
_HARMLESS_VALUES = frozenset({"true", "false", "null", "value`", "NAME", "KEY", HIDDEN.split()[0]})
_WORD_OF_SENTENCE = re.compile(
    "a|all|an|and|any|are|as|at|be|because|before|but|by|can|cannot|each|for|from|given|has|have|here|if|in|into|is|it"
    "|its|may|must|needs|no|not|of|on|only|or|requires|set|should|so|takes|than|that|the|their|then|there|these|they"
    "|this|to|until|was|were|when|where|which|will|with|without"
)
"""A word that follows a name in a sentence and is no secret: ``--api-key must not be set``."""
_ASSIGNMENT = re.compile(r"""(?<![\w.-])([\w.-]{2,64})(["']?\s*[=:]\s*["']?|["']?,\s*["'])([^\s"',;}\]]+)""")
_FLAG = re.compile(r"""(?<![\w-])(--?[A-Za-z][\w-]*)(\s+|=|["'],\s*["'])([^\s"',\]]+)""")


def is_secret_name(name: str) -> bool:
    """Whether a value of this name is secret: ``HF_TOKEN``, ``--api-k``, ``tlskey``; not ``maxTokens``."""
    if _SHORT_ARGUMENT.fullmatch(name):
        return True
    rest = _HARMLESS.sub("", name)
    parts = [word.lower() for word in _KEY_PARTS.findall(rest)]
    if parts and parts[-1] == "private":
        return True
    return any(word in _SECRET_WORDS or word.endswith(_SECRET_ENDS) for word in parts)


def without(text: str, secrets: Collection[str], instead: str = HIDDEN) -> str:
    """The text with each of ``secrets`` replaced by ``instead``."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, instead)
    return text


def without_in(value: object, secrets: Collection[str]) -> object:
    """A copy of a value in which each of ``secrets`` is replaced in every text."""
    if isinstance(value, str):
        return without(value, secrets)
    if isinstance(value, Mapping):
        table = cast("Mapping[object, object]", value)
        return {without(str(key), secrets): without_in(inner, secrets) for key, inner in table.items()}
    if isinstance(value, list | tuple):
        return [without_in(entry, secrets) for entry in cast("list[object]", value)]
    return HIDDEN if str(value) in secrets and not isinstance(value, bool) and value is not None else value


def by_shape(text: str) -> str:
    """The text without anything that has the shape of a secret, regardless of names: for our own documents."""
    return SECRET_SHAPES.sub(HIDDEN, text)


def may_be_secret(text: str, name: str = "") -> bool:
    """Whether a value may be secret, so that public texts, such as comments on pull requests, must omit it.

    ``name`` is its path. Stricter than :func:`masked`, which would leave ordinary values readable.
    """
    return bool(_DOUBTFUL_NAMES.search(name) or _DOUBTFUL_NAMES.search(text) or _DOUBTFUL_TEXTS.search(text)) or (
        is_secret_name(name) or masked(text) != text
    )


def masked(text: str) -> str:
    """The text without anything that looks like a secret: by its shape, or by the name in front of it."""
    text = by_shape(text)
    text = _FLAG.sub(_without_value, text)
    return _ASSIGNMENT.sub(_without_value, text)


def _without_value(match: re.Match[str]) -> str:
    name, between, value = match.groups()
    if not is_secret_name(name) or name == "--secret" or value in _HARMLESS_VALUES or value.startswith("//"):
        return match.group()  # in `pulumi config set --secret KEY` a key follows, not a value
    if between[-1].isspace() and _WORD_OF_SENTENCE.fullmatch(value):
        return match.group()
    return f"{name}{between}{HIDDEN}"


def shown(value: object, name: str = "", *, longest: int = 120) -> str:
    """A value as one line of JSON of at most ``longest`` characters, with secrets hidden. ``name`` is its key."""
    text = masked(json.dumps(_readable(value, name, DEEPEST), ensure_ascii=False))
    return _line(text, longest)


def shown_text(text: str, *, longest: int = 400) -> str:
    """A text that may contain values, as one line of at most ``longest`` characters, with secrets hidden."""
    return _line(masked(text), longest)


def _line(text: str, longest: int) -> str:
    return shortened(printable(text[: longest + 1]).replace("\n", "\\n"), longest)


def shortened(text: str, longest: int) -> str:
    """At most ``longest`` characters of a text that is masked already."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


def printable(text: str) -> str:
    r"""The text with control characters, direction marks and lone surrogates written as ``\u…``; newlines stay."""
    return "\n".join(line if line.isprintable() else _printable_line(line) for line in text.split("\n"))


def _printable_line(line: str) -> str:
    """Checks every character. ``isprintable`` is a hundred times as fast, but rejects spaces of other scripts."""
    return "".join(_escaped(one) if unicodedata.category(one) in UNPRINTABLE else one for one in line)


UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of characters that control a terminal or that are invisible."""


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _readable(value: object, name: str, levels: int) -> object:
    """A copy without secrets, with at most ``levels`` levels, and :data:`MOST_ENTRIES` entries in each."""
    if value is None or isinstance(value, bool):
        return value
    if is_secret_name(name) or _is_pem(value):
        return HIDDEN
    if isinstance(value, int | float):
        return value if isinstance(value, float) or abs(value) < 1e300 else "..."
    if levels == 0:
        return "..."
    if isinstance(value, Mapping):
        table = cast("Mapping[object, object]", value)
        if list(table) == ["secure"]:
            return {"secure": HIDDEN}
        return {masked(str(key)): _readable(inner, name, levels - 1) for key, name, inner in _named(table)}
    if isinstance(value, list | tuple):
        return [_readable(inner, name, levels - 1) for _, name, inner in _named(cast("list[object]", value))]
    return masked(str(value))


def _named(value: object) -> Iterator[tuple[object, str, object]]:
    if isinstance(value, Mapping):
        table = cast("Mapping[object, object]", value)
        # In a list of variables the name is a value, too: `name: HF_TOKEN`, `value: …`.
        named = [text for key in ("name", "key") if "value" in table and isinstance(text := table.get(key), str)]
        names = {"value": named[0], "key": ""} if named else {}
        for key, inner in itertools.islice(table.items(), MOST_ENTRIES):
            yield key, names.get(str(key), str(key)), inner
    elif isinstance(value, list | tuple):
        before: object = None
        for index, entry in enumerate(cast("list[object]", value)[:MOST_ENTRIES]):
            # `--hf-token` is followed by a token.
            follows = isinstance(before, str) and before.startswith("-") and "=" not in before
            yield index, str(before) if follows and isinstance(entry, str) and not entry.startswith("-") else "", entry
            before = entry


def _is_pem(value: object) -> bool:
    entries = cast("list[object]", value) if isinstance(value, list | tuple) else []
    return any(isinstance(entry, str) and "-----BEGIN" in entry for entry in entries)


def secrets_in(value: object, name: str = "") -> Iterator[str]:
    """Texts inside a value that are secret only because of the names beside them."""
    waiting: list[tuple[str, object, int]] = [(name, value, DEEPEST)]
    while waiting:
        name, one, levels = waiting.pop()
        if is_secret_name(name) or _is_pem(one):
            yield from (text for text in texts_in(one) if len(text) >= SHORTEST_NAMED_SECRET)
        elif levels:
            waiting += [(inner_name, inner, levels - 1) for _, inner_name, inner in _named(one)]


def texts_in(value: object) -> Iterator[str]:
    """Every text and number inside a value, as text: none may appear in a message if the whole value is secret."""
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
