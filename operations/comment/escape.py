"""Text from settings and messages in Markdown: a pull request must not be able to say anything in our name."""

from __future__ import annotations

import re


def code(text: str) -> str:
    """As code, on one line, in a table cell too: no markup, link or mention in it is read as one."""
    inside = " ".join(text.replace("`", "'").replace("|", "\\|").split())
    return f"`{inside}`" if inside else ""


def prose(text: str) -> str:
    """A message as plain words: backticks still mark code, everything else means itself."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(code(part[1:-1]) if place % 2 else _plain(part) for place, part in enumerate(parts))


def _plain(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\*_\[\]|~#!`])", r"\\\1", text)
    text = re.sub(r"@(?=\w)", "@\u200b", text)  # no mention
    return re.sub(r"(?i)\b(https?):(?=//)", "\\1:\u200b", text)  # no link by itself


def block(text: str) -> str:
    """Several lines, as they are."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"
