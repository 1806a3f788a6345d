"""What looks like a secret: names of variables and arguments, and texts with a shape of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator

NAME = re.compile(
    r"(?:(?:^|_|HF|GH|AUTH|ACCESS|BEARER|REFRESH|API)TOKEN|PASSWORD|PASSWD|PASSPHRASE|(?:^|_)(?:PASS|PWD)|SECRET"
    r"|(?:^|_)CREDENTIALS?|APIKEY"
    r"|(?:API|ACCESS|SECRET|PRIVATE|AUTH|ENCRYPTION|SIGNING|MASTER|ACCOUNT|SERVICE|OPENAI|ANTHROPIC|HF|WANDB)_?KEY)"
    r"_?\d*$",
    re.IGNORECASE,
)
HEADER = re.compile(r"(?:proxy-)?authorization|x-(?:api-key|auth-token|goog-api-key)|cookie", re.IGNORECASE)
ARGUMENT = re.compile(
    r"--(?:.+-)?(?:api-?key|hf-token|password|passwd|passphrase|(?:access|auth)-token|secret(?:-key)?)"
)
SHAPE = re.compile(
    r"\bhf_[A-Za-z0-9]{20,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bsk-[A-Za-z0-9_-]{20,}|\bya29\.[\w-]{10,}"
    r"|\bAIza[\w-]{30,}|\bAKIA[0-9A-Z]{16}\b|\bglpat-[\w-]{20,}|\bxox[abprs]-[\w-]{10,}"
    r"|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]+|-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"
    r"|://[^/\s:@$]*:[^/\s:@$]+@"
)
ASSIGNMENT = re.compile(r"""(?<![\w$.-])([A-Za-z_]\w*)=(["']?)([^\s"';&|]*)""")


def is_name(name: str) -> bool:
    """Whether a variable of that name holds a secret. Names of files do not: ``TOKEN_FILE``."""
    return NAME.search(name) is not None


def is_header(name: str) -> bool:
    """Whether a header of HTTP carries a secret."""
    return HEADER.fullmatch(name) is not None


def is_argument(word: str) -> bool:
    """Whether an argument such as ``--api-key=…`` takes a secret."""
    return ARGUMENT.fullmatch(word.replace("_", "-").partition("=")[0].lower()) is not None


def has_shape(text: str) -> bool:
    """Whether a text holds a token of a well-known form, a private key, or a URL with a password."""
    return SHAPE.search(text) is not None


def assigned(script: str) -> Iterator[str]:
    """Names of secrets that a shell script gives a value: ``HF_TOKEN=… vllm serve``. Values of variables are fine."""
    for name, _quote, value in ASSIGNMENT.findall(script):
        if value and not value.startswith(("$", "`")) and is_name(name):
            yield name
