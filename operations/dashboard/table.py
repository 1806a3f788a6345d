"""The panels of the included stack ``eu4a`` as a table for the docs: ``python -m operations.dashboard.table``."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from llmd_gke.manifests.dashboard import sections
from llmd_gke.settings import StackSettings
from operations.options import Cloud
from operations.target import Target

STACK = "eu4a"


def lines(settings: StackSettings) -> Iterator[str]:
    """The table, line by line."""
    yield "| Section | Panel | Unit | What it shows |"
    yield "|---|---|---|---|"
    for section in sections(settings):
        for panel in section.panels:
            title = f"[{panel.title}]({panel.source})" if urlsplit(panel.source).scheme else panel.title
            yield f"| {section.title} | {title} | {panel.unit} | {panel.reading} |"


if __name__ == "__main__":
    print("\n".join(lines(Target.choose(STACK, Cloud.REHEARSAL).settings)))
