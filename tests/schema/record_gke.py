"""Facts of GKE's kinds, in no package registry: ``python -m tests.schema.record_gke FOLDER`` writes ``gke.json``.

``FOLDER`` is ``config/crd`` of a clone of https://github.com/GoogleCloudPlatform/gke-gateway-api. Of it, fields are
kept with their types, limits and allowed values, without a word of their descriptions. The rules across fields are
written by hand, after the CEL rules of the same files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import yaml

from tests.schema.structural import Table, table

FILE = Path(__file__).with_name("gke.json")
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

Rules = dict[str, dict[str, str]]
_BLOCKS = {"TCP": "tcp", "HTTP": "http", "HTTPS": "https", "HTTP2": "http2", "GRPC": "grpc"}
_PORTS = {
    "USE_FIXED_PORT": "has(self.port) && !has(self.portName)",
    "USE_NAMED_PORT": "!has(self.port) && has(self.portName)",
    "USE_SERVING_PORT": "!has(self.port) && !has(self.portName)",
}
_INTERVAL = "(has(self.checkIntervalSec) ? self.checkIntervalSec : 5)"
_TIMEOUT = "(has(self.timeoutSec) ? self.timeoutSec : 5)"


def rules() -> dict[str, Rules]:
    """By kind and field: what has to hold (CEL), and how that is said. A field that is read must be there."""
    blocks = {
        f"spec.default.config.{prefix}HealthCheck": {
            "has(self.portSpecification)": "portSpecification has to be given",
            **{
                f"self.portSpecification != '{way}' || ({needs})": f"{way} does not fit this port or portName"
                for way, needs in _PORTS.items()
            },
        }
        for prefix in _BLOCKS.values()
    }
    types = {
        f"self.type != '{kind}' || has(self.{prefix}HealthCheck)": f"type {kind} needs {prefix}HealthCheck"
        for kind, prefix in _BLOCKS.items()
    }
    # Both are 5 where they are not given, but only one that is given is compared.
    given = "!(has(self.checkIntervalSec) || has(self.timeoutSec))"
    times = {f"{given} || {_TIMEOUT} <= {_INTERVAL}": "timeoutSec exceeds checkIntervalSec (5 where one is not given)"}
    services = {"self.all(ref, ref.group == '' && ref.kind == 'Service')": "only a Service can be a target"}
    return {
        "HealthCheckPolicy": {"spec.default": times, "spec.default.config": types, **blocks},
        "GCPTrafficDistributionPolicy": {"spec.targetRefs": services},
    }


def record(folder: Path) -> Table:
    """What is kept of the published definitions."""
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


def definition(facts: Table, kind: str) -> Table:
    """A CustomResourceDefinition with those facts and our rules."""
    kind_facts = table(table(facts["kinds"])[kind])
    schema: Table = {
        "type": "object",
        "required": kind_facts["required"],
        "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}},
    }
    for path, limits in table(kind_facts["fields"]).items():
        # The items of a list are a step of their own: "targetRefs[]".
        *parents, name = path.replace("[]", ".[]").split(".")
        node = schema
        for parent in parents:
            node = table(node["items"] if parent == "[]" else table(node["properties"])[parent])
        rules_here = rules().get(kind, {}).get(path, {})
        checks: Table = {
            "x-kubernetes-validations": [{"rule": rule, "message": message} for rule, message in rules_here.items()]
        }
        field = {**table(limits), **(checks if rules_here else {})}
        if name == "[]":
            node["items"] = field
        else:
            cast("Table", node.setdefault("properties", {}))[name] = field
    version = {"name": kind_facts["version"], "served": True, "schema": {"openAPIV3Schema": schema}}
    return {"spec": {**{key: kind_facts[key] for key in ("group", "names", "scope")}, "versions": [version]}}


def read() -> Table:
    """The facts that are kept."""
    return cast("Table", json.loads(FILE.read_text(encoding="utf-8")))


def write(facts: Table) -> None:
    """Keeps them, one field a line."""
    lines: list[str] = []
    for kind, kind_facts in table(facts["kinds"]).items():
        fields = table(table(kind_facts).pop("fields"))
        listed = ",\n".join(f"    {json.dumps(path)}: {json.dumps(limits)}" for path, limits in fields.items())
        about = json.dumps(kind_facts)[:-1]
        lines.append(f'  {json.dumps(kind)}: {about}, "fields": {{\n{listed}\n  }}}}')
    head = json.dumps({key: facts[key] for key in ("source", "commit", "committed")})[:-1]
    FILE.write_text(f'{head}, "kinds": {{\n' + ",\n".join(lines) + "\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    write(record(Path(sys.argv[1])))
