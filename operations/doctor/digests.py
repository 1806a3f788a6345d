"""Records the digests of the pinned charts and images: ``python -m operations.doctor.digests`` (``make digests``).

Requests the manifest of the pinned tag from each registry and writes ``digest`` below it in ``catalog/versions.toml``.
For maintainers, after a change of versions, on a machine that reaches the registries.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from llmd_gke.catalog import versions
from operations.doctor.context import Context
from operations.doctor.downloads import Manifest, manifest

Ask = Callable[[str, str, str], Manifest]

_SECTION = re.compile(r"^\[(?P<section>[^\]]+)\]\s*$")
_TAG = re.compile(r"^(?:tag|version) = ")


def resolve(ask: Ask = manifest) -> tuple[dict[str, str], list[str]]:
    """The digest of every pinned chart and image by its section, and the reasons for missing ones."""
    pins = [(f"charts.{one.name}", one.home.removeprefix("oci://"), one.version) for one in versions.charts()]
    pins += [(f"images.{one.name}", one.home, one.tag) for one in versions.images()]
    digests: dict[str, str] = {}
    missing: list[str] = []
    for section, home, tag in pins:
        host, _, path = home.partition("/")
        answer = ask(Context.registry(host), path, tag)
        if answer.digest is None:
            missing.append(f"{home}:{tag}: {answer.problem or 'the registry returns no digest'}")
        else:
            digests[section] = answer.digest
    return digests, missing


def written(text: str, digests: Mapping[str, str]) -> str:
    """``versions.toml`` with these digests in their sections, each below the tag; everything else is unchanged."""
    lines: list[str] = []
    section = ""
    for line in text.splitlines():
        if heading := _SECTION.match(line):
            section = heading["section"]
        if section in digests and line.startswith("digest = "):
            continue
        lines.append(line)
        if section in digests and _TAG.match(line):
            lines.append(f'digest = "{digests[section]}"')
    return "\n".join(lines) + "\n"


def main(file: Path = versions.FILE, ask: Ask = manifest) -> int:
    """Writes the digests to versions.toml. Returns 1, and writes nothing, if a digest is missing."""
    digests, missing = resolve(ask)
    if missing:
        print("Nothing was written. Not determined:", *missing, sep="\n  ", file=sys.stderr)
        print("Fix: run the command where these registries can be reached, or correct the versions.", file=sys.stderr)
        return 1
    file.write_text(written(file.read_text(encoding="utf-8"), digests), encoding="utf-8")
    print(f"{file.name}: {len(digests)} digests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
