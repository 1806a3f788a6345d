"""Text from settings and messages in Markdown: a pull request must not be able to say anything in our name.

What GitHub makes of plain text is in its pages on mentions, autolinked references and mathematical expressions. A
backslash stops Markdown, but not those: they are looked for in the finished text. So a space of no width breaks them.
"""

from __future__ import annotations

import re
import unicodedata

GAP = "\u200b"
"""Shown as nothing; no mention, reference or address goes over it."""

LONGEST = 4000
"""Characters of a text that anything is made of."""

_MARKUP = re.compile(r"([\\*_\[\]|~#!`])")
_GAPS = (
    (re.compile(r"@"), f"@{GAP}"),  # a mention, an address of mail
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]*):(?=//)"), rf"\1:{GAP}"),  # an address
    (re.compile(r"(?i)\bwww(?=\.)"), f"www{GAP}"),  # an address without a scheme
    (re.compile(r"#(?=\d)"), f"#{GAP}"),  # an issue
    (re.compile(r"(?i)\bgh(?=-\d)"), rf"\g<0>{GAP}"),  # an issue, too
    (re.compile(r"(?i)\b(mailto|xmpp):"), rf"\1{GAP}:"),
)
_COMMIT = re.compile(r"(?i)(?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])")


def clean(text: str) -> str:
    """Without characters that are not seen or that turn the order of others: what is left can be read as it is."""
    return "".join(one for one in text[:LONGEST] if one in "\n\t" or unicodedata.category(one)[0] != "C")


def code(text: str) -> str:
    """As code, on one line, in a table cell too: no markup, link or mention in it is read as one."""
    inside = " ".join(clean(text).replace("`", "'").replace("|", "\\|").split())
    return f"`{inside}`" if inside else ""


def prose(text: str) -> str:
    """A message as plain words: backticks still mark code, everything else means itself."""
    parts = re.split(r"(`[^`]*`)", " ".join(clean(text).split()))
    return "".join(code(part[1:-1]) if index % 2 else _plain(part) for index, part in enumerate(parts))


def _plain(text: str) -> str:
    for pattern, gapped in _GAPS:
        text = pattern.sub(gapped, text)
    text = _COMMIT.sub(_apart, text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _MARKUP.sub(r"\\\1", text)
    return text.replace("$", "<span>$</span>")  # no mathematics: GitHub's own advice


def _apart(match: re.Match[str]) -> str:
    """A run of hexadecimal digits in pieces that are too short for a commit."""
    run = match.group()
    return GAP.join(run[at : at + 6] for at in range(0, len(run), 6))


def block(text: str) -> str:
    """Several lines, as they are."""
    text = clean(text)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"
