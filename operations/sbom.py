"""Bills of materials of the Python sets: ``make sbom``, or ``python3 operations/sbom.py FOLDER``.

One CycloneDX 1.6 document (https://cyclonedx.org/docs/1.6/json/) for each set of pins: every package with its version,
the SHA-256 of each archive that may be installed, and the packages that require it. It uses only the standard library,
and the same pins give the same bytes.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("requirements", "localcloud/requirements", "llmd_common/requirements")
NAMES = uuid.uuid5(uuid.NAMESPACE_URL, "https://cyclonedx.org/llmd-gke")

_PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(?P<version>[^\s;\\]+)\s*(?P<marker>;[^\\]*)?\\?$")
_HASH = re.compile(r"^\s+--hash=sha256:(?P<hash>[0-9a-f]{64})\s*\\?$")
_VIA = re.compile(r"^\s+#(?: via)?\s+(?P<parent>\S+)$")


@dataclass
class Package:
    """A pinned package. ``wanted_by``: packages that require it, and files that list it (``-r program.in``)."""

    name: str
    version: str
    marker: str = ""
    hashes: list[str] = field(default_factory=list[str])
    wanted_by: list[str] = field(default_factory=list[str])

    @property
    def purl(self) -> str:
        """Its package URL (https://github.com/package-url/purl-spec)."""
        return f"pkg:pypi/{normal(self.name)}@{self.version}"


def normal(name: str) -> str:
    """A package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def complete(file: Path) -> str:
    """The pins of a set with those of the files that it includes."""
    included = re.compile(r"^-r (\S+)\n", re.MULTILINE)
    return included.sub(lambda found: complete(file.parent / found[1]), file.read_text(encoding="utf-8"))


def packages(text: str) -> list[Package]:
    """The packages of a file of hash-pinned requirements. Raises ``ValueError`` for any other line."""
    packages: list[Package] = []
    for line in text.splitlines():
        if pin := _PIN.match(line):
            packages.append(Package(pin["name"], pin["version"], (pin["marker"] or "").strip("; ")))
        elif (digest := _HASH.match(line)) and packages:
            packages[-1].hashes.append(digest["hash"])
        elif via := _VIA.match(line):
            if packages:
                packages[-1].wanted_by.append(via["parent"])
        elif line.strip() and not line.lstrip().startswith("#"):
            raise ValueError(f"not a hash-pinned requirement: {line!r}")
    unchecked = [one.name for one in packages if not one.hashes]
    if unchecked:
        raise ValueError(f"without a hash: {', '.join(unchecked)}")
    return packages


def document(name: str, text: str) -> dict[str, object]:
    """The bill of materials of the set of that name."""
    listed = packages(text)
    root = f"llmd-gke-{name}"
    by_name = {normal(one.name): one.purl for one in listed}
    needs: dict[str, set[str]] = {root: set(), **{one.purl: set() for one in listed}}
    for one in listed:
        parents = [by_name[normal(parent)] for parent in one.wanted_by if normal(parent) in by_name]
        for parent in parents or [root]:
            needs[parent].add(one.purl)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(NAMES, name + text)}",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": root, "bom-ref": root}},
        "components": [_component(one) for one in listed],
        "dependencies": [{"ref": ref, "dependsOn": sorted(dependencies)} for ref, dependencies in needs.items()],
    }


def _component(one: Package) -> dict[str, object]:
    made: dict[str, object] = {
        "type": "library",
        "name": one.name,
        "version": one.version,
        "bom-ref": one.purl,
        "purl": one.purl,
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in one.hashes],
    }
    if one.marker:
        made["properties"] = [{"name": "llmd-gke:marker", "value": one.marker}]
    return made


def main(arguments: list[str]) -> int:
    """Writes the documents into a folder. Returns 2 for wrong usage."""
    if len(arguments) != 1:
        print("usage: python3 operations/sbom.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(file for folder in FOLDERS for file in (ROOT / folder).glob("*.txt")):
        made = document(file.stem, complete(file))
        (folder / f"{file.stem}.cdx.json").write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
        print(folder / f"{file.stem}.cdx.json")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
