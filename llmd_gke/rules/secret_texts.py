"""Recognizes secrets by the names of variables and arguments, and by the shape of texts."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from llmd_gke.rules.vllm_arguments import expanded

NAME = re.compile(
    r"(?:(?:^|_|HF|GH|AUTH|ACCESS|BEARER|REFRESH|API)TOKEN|PASSWORDS?|PASSWD|PASSPHRASE|(?:^|_)(?:PASS|PWD)|SECRETS?"
    r"|(?:^|_)CREDENTIALS?|APIKEYS?"
    r"|(?:API|ACCESS|SECRET|PRIVATE|AUTH|ENCRYPTION|SIGNING|MASTER|ACCOUNT|SERVICE|OPENAI|ANTHROPIC|HF|WANDB)_?KEYS?)"
    r"_?\d*$",
    re.IGNORECASE,
)
HEADER = re.compile(r"(?:proxy-)?authorization|x-(?:api-key|auth-token|goog-api-key)|cookie", re.IGNORECASE)
"""HTTP headers that carry a secret."""
ARGUMENT = re.compile(
    r"--token|--(?:.+-)?(?:api-?key|password|passwd|passphrase|(?:hf|access|auth|bearer)-token|secret(?:-key)?)"
)
SHAPE = re.compile(
    r"\bhf_[A-Za-z0-9]{20,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bsk-[A-Za-z0-9_-]{20,}|\bya29\.[\w-]{10,}"
    r"|\bAIza[\w-]{30,}|\bAKIA[0-9A-Z]{16}\b|\bglpat-[\w-]{20,}|\bxox[abprs]-[\w-]{10,}"
    r"|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]+|-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"
    r"|://[^/\s:@$]*:[^/\s:@$]+@"
    r"|(?i:\bauthorization[\"']?\s*:\s*[\"']?(?:bearer|basic)\s+)[\w.~+/=-]{8,}"
)
ASSIGNMENT = re.compile(
    r"""(?<![\w$.-])([A-Za-z_]\w*)(?:["']\]\s*=\s*|\+?=)(?:""|''|\$(?=["']))*(["']?)([^\s"';&|()]*)"""
)
"""An assignment in a shell script, also with empty quotes, or to an entry of Python's ``os.environ``."""
CONFIGURED = re.compile(
    r"""(?:^|[{,])[ \t]*(?:-[ \t]+)?["']?([\w.-]{3,100}?)["']?"""
    r"""(?:[ \t]*:[ \t]*|[ \t]+=[ \t]+|=)["']?([^\s"',;}#]{4,})""",
    re.MULTILINE,
)
"""A setting on a line of a file in any common format, or in a JSON object."""
CONFIGURED_NAME = re.compile(
    r"(?:password|passwd|passphrase|(?:^|(?:hf|hub|api|auth|access|bearer|refresh|github)_?)token"
    r"|(?:api|access|secret|private|auth|master|signing|encryption)_?key)$",
    re.IGNORECASE,
)
NO_VALUE = re.compile(r"[$<{%/!|>&*\[(]|os\.environ\[|(?:true|false|null|none)$", re.IGNORECASE)
"""Beginnings of values that refer to other values: variables, templates, paths."""
ELEMENT = re.compile(r"<([\w.-]{3,100})>\s*([^<\s]{4,})\s*</")
GIVEN = re.compile(r"""\bprintf\s+-v\s+(\w+)\s+(?!["']?\$)\S|\bread\s+(?:-\w+\s+)*(\w+)\s*<<<\s*(?!["']?\$)\S""")
"""Two more ways in which a shell assigns a value to a variable."""
LOGIN = re.compile(
    r"""\bcurl\b[^|;&\n]{0,400}?\s(?:-u|--user)[ =]?["']?[^\s:$"']+:[^\s$"']"""
    r"""|^\s*machine\s+\S+\s.{0,200}\bpassword\s+\S""",
    re.MULTILINE,
)
"""Name and password for curl, or in a file for it (netrc)."""
DOCKER_AUTH = re.compile(r"""["']auth["']\s*:\s*["'][\w+/=]{8,}""")
ENCODED = re.compile(r"(?<![\w+/])[A-Za-z0-9+/]{24,4096}={0,2}(?![\w+/])")
MOST_ENCODED = 64
"""Base64 pieces of one text that are decoded, at most."""
COMMAND = re.compile(r"\$\(\s*(?:echo|printf)\s+(?:-\w+\s+)*[\"']?[^\s$\"')]")
DEFAULT = re.compile(r"\$\{\w+:?[-=+][\"']?[^\s$}\"']")

PLACEHOLDER = re.compile(r"\{\{((?:[^{}\"'`]|\"[^\"]*\"|'[^']*'|`[^`]*`)*)\}\}")
QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")
FALLBACK = re.compile(r"\b(?:default|coalesce|ternary|or|printf|print|cat|list|if|with)\b")
"""Template functions that may return a literal text."""
FORM = re.compile(r"[:=@/]\s*[\"']?\{\{")
"""A URL or a setting whose value is a placeholder, in a template."""


def is_name(name: str) -> bool:
    """Whether a variable of that name holds a secret. Names of files do not: ``TOKEN_FILE``."""
    return NAME.search(name) is not None


def without_placeholders(text: str) -> str:
    """A text without the placeholders (``{{ .Values.token }}``) of templates of Helm and External Secrets.

    A placeholder only refers to a value. One that contains a literal as fallback is kept.
    """
    return PLACEHOLDER.sub(lambda match: "" if _refers(match[1]) else match[0], text)


def _refers(expression: str) -> bool:
    bare = QUOTED.sub("", expression)
    has_text = any(len(quoted) > len('""') for quoted in QUOTED.findall(expression))
    return any(sign in bare for sign in ".$") and not (has_text and FALLBACK.search(bare))


def is_argument(word: str) -> bool:
    """Whether an argument such as ``--api-key=…`` takes a secret."""
    return ARGUMENT.fullmatch(expanded(word.partition("=")[0]).lower()) is not None


def has_shape(text: str) -> bool:
    """Whether a text holds a token of a well-known form, a private key, or a URL with a password."""
    return SHAPE.search(text) is not None or any(SHAPE.search(one) for one in _decoded(text))


def _decoded(text: str) -> Iterator[str]:
    for number, match in enumerate(ENCODED.finditer(text)):
        if number >= MOST_ENCODED:
            return
        try:
            yield base64.b64decode(match[0] + "=" * (-len(match[0]) % 4)).decode("ascii")
        except (binascii.Error, ValueError):
            continue


def assigned(script: str) -> Iterator[str]:
    """Names of secrets to which a shell script assigns a literal: ``HF_TOKEN=… vllm serve``. References are allowed.

    A variable's default (``${HF_TOKEN:-…}``) and the output of ``echo`` are literals, too.
    """
    for match in ASSIGNMENT.finditer(script):
        name, value, rest = match[1], match[3], script[match.start(3) :]
        literal = COMMAND.match(rest) or DEFAULT.match(rest)
        if value and is_name(name) and (literal or not value.startswith(("$", "`", "os.environ["))):
            yield name
    for match in GIVEN.finditer(script):
        if is_name(name := match[1] or match[2]):
            yield name


def configured(text: str) -> Iterator[str]:
    """Names of secrets to which a configuration file (YAML, JSON, TOML, INI, properties) assigns a value."""
    text = text.replace('\\"', '"')
    for name, value in (*CONFIGURED.findall(text), *ELEMENT.findall(text)):
        last = name.replace("-", "_").rsplit(".", 1)[-1]
        if CONFIGURED_NAME.search(last) and not NO_VALUE.match(value):
            yield name
    if DOCKER_AUTH.search(text) or LOGIN.search(text):
        yield "auth"
