"""Facts of GKE's kinds, in no package registry: ``python -m tests.schema.record_gke FOLDER`` writes ``gke.json``.

``FOLDER`` is ``config/crd`` of a clone of https://github.com/GoogleCloudPlatform/gke-gateway-api. Of it, fields are
kept with their types, limits and allowed values, without a word of their descriptions.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import yaml

from localcloud.gke_gateway.crds import gke
from tests.schema.structural import Table, table

SOURCE = "https://github.com/GoogleCloudPlatform/gke-gateway-api/tree/fc40d606/config/crd"
COMMIT, COMMITTED = "fc40d606", "2026-04-29"
PLURALS = {
    "HealthCheckPolicy": "healthcheckpolicies",
    "GCPBackendPolicy": "gcpbackendpolicies",
    "GCPGatewayPolicy": "gcpgatewaypolicies",
    "GCPSessionAffinityPolicy": "gcpsessionaffinitypolicies",
    "GCPTrafficDistributionPolicy": "gcptrafficdistributionpolicies",
}
LIMITS = (
    "type", "format", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minProperties",
    "maxProperties", "minItems", "maxItems", "required", "default",
)  # fmt: skip


def record(folder: Path) -> Table:
    kinds = {kind: _kind(folder / f"networking.gke.io_{plural}.yaml") for kind, plural in PLURALS.items()}
    return {"source": SOURCE, "commit": COMMIT, "committed": COMMITTED, "kinds": kinds}


def _kind(file: Path) -> Table:
    loaded: object = yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)
    spec = table(cast("Table", loaded)["spec"])
    (version,) = cast("list[Table]", spec["versions"])
    schema = table(table(version["schema"])["openAPIV3Schema"])
    return {
        "group": spec["group"],
        "names": spec["names"],
        "scope": spec["scope"],
        "version": version["name"],
        "required": schema["required"],
        "fields": dict(_fields(table(table(schema["properties"])["spec"]), "spec")),
    }


def _fields(node: Table, path: str) -> Iterator[tuple[str, Table]]:
    yield path, {key: node[key] for key in LIMITS if key in node}
    if "items" in node:
        yield from _fields(table(node["items"]), f"{path}[]")
    for name, inner in table(node.get("properties")).items():
        yield from _fields(table(inner), f"{path}.{name}")


def write(facts: Table) -> None:
    """Keeps them, one field a line."""
    lines: list[str] = []
    for kind, kind_facts in table(facts["kinds"]).items():
        fields = table(table(kind_facts).pop("fields"))
        listed = ",\n".join(f"    {json.dumps(path)}: {json.dumps(limits)}" for path, limits in fields.items())
        about = json.dumps(kind_facts)[:-1]
        lines.append(f'  {json.dumps(kind)}: {about}, "fields": {{\n{listed}\n  }}}}')
    head = json.dumps({key: facts[key] for key in ("source", "commit", "committed")})[:-1]
    gke.FILE.write_text(f'{head}, "kinds": {{\n' + ",\n".join(lines) + "\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    write(record(Path(sys.argv[1])))
