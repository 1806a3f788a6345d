from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
import yaml

from llmd_gke.catalog import accelerators
from llmd_gke.settings import descriptions, schema
from llmd_gke.settings.secret_keys import SECRETS
from llmd_gke.settings.sections.base import Section
from tests.llmd_gke.settings.conftest import ROOT
from tests.llmd_gke.settings.test_stack_files import STACKS


@pytest.fixture(scope="module")
def stack_file() -> Any:
    return jsonschema.Draft7Validator(json.loads(schema.SCHEMA.read_text()))


def content(stack: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text())


@pytest.mark.parametrize("stack", STACKS)
def test_a_shipped_stack_file_fits_the_schema(stack: str, stack_file: Any) -> None:
    assert [error.message for error in stack_file.iter_errors(content(stack))] == []
    first = (ROOT / f"Pulumi.{stack}.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=schema/llmd-gke.schema.json", "editors find it"


REFUSED: dict[str, Callable[[dict[str, Any]], object]] = {
    "a section": lambda config: config.update({"llmd-gke:gatway": {}}),
    "a key": lambda config: config["llmd-gke:cluster"].update(zon="europe-west4-a"),
    "a model's key": lambda config: config["llmd-gke:models"][0].update(replica=1),
    "a nested key": lambda config: config["llmd-gke:cluster"].update(systemPool={"nodes": 1}),
    "a key without namespace": lambda config: config.update(cluster={}),
    "no project": lambda config: config.pop("gcp:project"),
    "an empty list": lambda config: config.update({"llmd-gke:models": []}),
    "a required key left out": lambda config: config["llmd-gke:models"][0].pop("uri"),
    "a number in quotes": lambda config: config["llmd-gke:models"][0].update(replicas="3"),
    "a number out of range": lambda config: config["llmd-gke:models"][0].update(replicas=0),
    "a choice that is none": lambda config: config["llmd-gke:gateway"].update(exposure="global"),
    "a machine type that never existed": lambda config: config["llmd-gke:pools"][0].update(
        machineType="ct6e-standard-16t"
    ),
    "a topology the machine cannot form": lambda config: config["llmd-gke:pools"][0].update(topology="2x2x1"),
    "a secret in plain text": lambda config: config.update({"llmd-gke:hfToken": "in plain text"}),
}


@pytest.mark.parametrize("spoil", REFUSED.values(), ids=REFUSED)
def test_an_unknown_key_and_a_wrong_value_are_refused(
    spoil: Callable[[dict[str, Any]], object], stack_file: Any
) -> None:
    file = content("eu4a")
    spoil(file["config"])
    assert not stack_file.is_valid(file)


@pytest.mark.parametrize(
    "add",
    [
        lambda file: file["config"].update({"gcp:region": "europe-west4", "kubernetes:x": True}),
        lambda file: file["config"].update({f"llmd-gke:{secret}": {"secure": "v1:abc"} for secret in SECRETS}),
        lambda file: file.update(encryptionsalt="v1:abc"),
        lambda file: file["config"]["llmd-gke:cluster"].update(systemZone=None),
    ],
    ids=["other providers' keys", "encrypted secrets", "what Pulumi adds", "null where it means the default"],
)
def test_what_settings_accept_is_accepted(add: Callable[[dict[str, Any]], object], stack_file: Any) -> None:
    file = content("eu4a")
    add(file)
    assert [error.message for error in stack_file.iter_errors(file)] == []


@pytest.mark.parametrize("shape", [shape for family in accelerators.FAMILIES for shape in family.slices()], ids=str)
def test_every_slice_of_the_catalogue_is_accepted(shape: accelerators.Slice, stack_file: Any) -> None:
    file = content("eu4a")
    pool = {key: value for key, value in file["config"]["llmd-gke:pools"][0].items() if key != "topology"}
    of_kind = {"topology": shape.topology} if "x" in shape.topology else {"gpus": int(shape.topology)}
    file["config"]["llmd-gke:pools"] = [{**pool, "machineType": shape.machine.name, **of_kind}]
    assert stack_file.is_valid(file)


def test_the_text_below_a_field_describes_it_in_words_of_a_stack_file() -> None:
    texts = descriptions.keys(Documented)
    assert texts == {"first_key": "First, see `somewhere.else`.", "second": "Or `null`; goes with `firstKey`."}
    assert descriptions.about(Documented) == "A shape."


class Documented(Section):
    """A shape.

    ``third`` is not described here, whatever this says about ``third``.
    """

    first_key: int
    """First, see
    :data:`somewhere.else`."""
    second: int | None
    """Or ``None``; goes with ``first_key``."""
    third: int
