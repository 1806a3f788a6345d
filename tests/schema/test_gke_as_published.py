"""The facts in ``gke.json`` against GKE's published definitions, collected only where those are at hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
import yaml

from llmd_gke.gateways import gke_policies
from tests.schema import record_gke, rules, sources, structural
from tests.schema.structural import Table, table

KINDS = record_gke.PLURALS


@pytest.fixture(scope="module")
def folder() -> Path:
    return sources.GKE_FOLDER


def published(folder: Path, kind: str) -> Table:
    file = folder / f"networking.gke.io_{KINDS[kind]}.yaml"
    loaded: object = yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return cast("Table", loaded)


def test_what_is_kept_is_what_is_published(folder: Path) -> None:
    assert record_gke.record(folder) == record_gke.read()


@pytest.mark.parametrize("kind", KINDS)
def test_the_policies_know_the_same_fields(kind: str) -> None:
    def leaves(fields: gke_policies.Fields, above: str) -> Iterator[str]:
        for name, inner in fields.items():
            yield from leaves(inner, f"{above}.{name}") if inner else (f"{above}.{name}",)

    recorded = [path.replace("[]", "") for path in table(table(table(record_gke.read()["kinds"])[kind])["fields"])]
    spec = {path for path in recorded if path.startswith("spec.") and not any(f"{path}." in one for one in recorded)}
    assert {*leaves(gke_policies.FIELDS[kind], "spec")} == spec


def node(definition: Table, path: str) -> Table:
    result = structural.version_schema(definition, "networking.gke.io/v1")
    for step in path.split("."):
        result = table(table(result["properties"])[step])
    return result


def rules_of(definition: Table) -> Iterator[str]:
    """The fields that have rules."""

    def below(result: Table, path: str) -> Iterator[str]:
        if result.get("x-kubernetes-validations"):
            yield path
        for name, inner in table(result.get("properties")).items():
            yield from below(table(inner), f"{path}.{name}".strip("."))

    yield from below(structural.version_schema(definition, "networking.gke.io/v1"), "")


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_fields_have_rules(folder: Path, kind: str) -> None:
    ours = record_gke.definition(record_gke.read(), kind)
    spec = [path for path in rules_of(published(folder, kind)) if path.startswith("spec")]
    assert sorted(rules_of(ours)) == sorted(spec)


def objects(path: str) -> Iterator[Table]:
    """Every object that rules of a field may tell apart."""
    blocks = [f"{prefix}HealthCheck" for prefix in ("tcp", "http", "https", "http2", "grpc")]
    values: dict[str, list[object]]
    if path.endswith("HealthCheck"):
        ways = ["USE_FIXED_PORT", "USE_NAMED_PORT", "USE_SERVING_PORT"]
        values = {"portSpecification": [None, *ways], "port": [None, 80], "portName": [None, "http"]}
    elif path.endswith("config"):
        values = {"type": ["TCP", "HTTP", "HTTPS", "HTTP2", "GRPC"], **{block: [None, {}] for block in blocks}}
    else:
        values = {name: [None, 1, 4, 5, 6, 300] for name in ("checkIntervalSec", "timeoutSec")}
    for chosen in itertools.product(*values.values()):
        yield {name: value for name, value in zip(values, chosen, strict=True) if value is not None}


@pytest.mark.parametrize("path", record_gke.rules()["HealthCheckPolicy"])
def test_our_wording_of_a_rule_refuses_what_the_published_one_does(folder: Path, path: str) -> None:
    ours = node(record_gke.definition(record_gke.read(), "HealthCheckPolicy"), path)
    theirs = node(published(folder, "HealthCheckPolicy"), path)
    # The rules of this field only: those of the fields below have cases of their own.
    alone = [{key: value for key, value in one.items() if key != "properties"} for one in (ours, theirs)]
    cases = list(objects(path))
    refused = [[bool(rules.broken(case, schema)) for case in cases] for schema in alone]
    assert refused[0] == refused[1]
    assert 0 < sum(refused[0]) < len(cases)
