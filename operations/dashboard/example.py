"""The picture in the docs: ``python -m operations.dashboard.example`` draws the recorded answers of a laptop cloud.

``python -m operations.dashboard.example MINUTES``, in ``make shell CLOUD=laptop``, queries the Prometheus there and
rewrites ``example.json``; the cloud must run with ``LLMD_GKE_PROMETHEUS`` and be under load.
"""

from __future__ import annotations

import sys
from pathlib import Path

from llmd_gke.manifests.dashboard import google, sections
from operations.dashboard import picture, queries
from operations.options import Cloud
from operations.target import Target

FILE = Path(__file__).with_name("example.json")
STACK = "local"


def drawn() -> str:
    """The picture as SVG."""
    settings = Target.choose(STACK, Cloud.REHEARSAL).settings
    series, span = queries.read(FILE, settings)
    return picture.picture(sections(settings), series, span, google.name(settings))


def main(arguments: list[str]) -> None:
    """Prints the picture, or with a number of minutes records again."""
    if not arguments:
        print(drawn(), end="")
        return
    target = Target.choose(STACK, Cloud.LAPTOP)
    series, span = queries.of(target, float(arguments[0]))
    FILE.write_text(queries.record(series, span, target.settings), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
