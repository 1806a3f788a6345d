"""Escapes text from settings and messages for Markdown, so that a pull request cannot add content in our name.

GitHub also turns plain text into mentions, references and mathematical expressions. It looks for those in the rendered
text, so that a backslash does not prevent them; a zero-width space does.
"""

from __future__ import annotations

import re
import unicodedata

GAP = "\u200b"
"""Zero-width space: invisible, and it interrupts mentions, references and addresses."""

LONGEST = 4000
"""Maximum length of a text in characters; a longer one is truncated."""

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
    """The text without invisible characters and without characters that change the text's direction."""
    return "".join(one for one in text[:LONGEST] if one in "\n\t" or unicodedata.category(one)[0] != "C")


def code(text: str) -> str:
    """The text as inline code on one line, also for table cells: nothing in it is rendered as markup, link or
    mention.
    """
    inside = " ".join(clean(text).replace("`", "'").replace("|", "\\|").split())
    return f"`{inside}`" if inside else ""


def prose(text: str) -> str:
    """A message as plain text: backticks mark code, everything else is literal."""
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
    """Divides a run of hexadecimal digits into parts that are too short for a link to a commit."""
    run = match.group()
    return GAP.join(run[at : at + 6] for at in range(0, len(run), 6))


def block(text: str) -> str:
    """Several lines as a code block."""
    text = clean(text)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"
