"""Text for the user."""

from __future__ import annotations

from rich.console import Console


def say(console: Console, text: str) -> None:
    """Prints one paragraph, without adding line breaks."""
    console.print(text, highlight=False, soft_wrap=True, markup=False)
