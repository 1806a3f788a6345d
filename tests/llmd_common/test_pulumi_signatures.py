"""Pulumi's marks are written in one file, and are those of its SDK."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pulumi_policy.proxy
import pytest
from pulumi.runtime import rpc

from llmd_common import pulumi_signatures
from llmd_common.pulumi_signatures import ARCHIVE, ASSET, OUTPUT, SECRET, SIGNATURE, UNKNOWN, UNKNOWNS

ROOT = Path(__file__).parents[2]


def test_they_are_those_of_the_sdk() -> None:
    sdk = vars(rpc)
    names = ("special_sig_key", "special_secret_sig", "special_output_value_sig", "special_asset_sig")
    assert [sdk[f"_{name}"] for name in (*names, "special_archive_sig")] == [SIGNATURE, SECRET, OUTPUT, ASSET, ARCHIVE]
    assert sdk["UNKNOWN"] == UNKNOWN


def test_every_unknown_value_of_the_sdk_is_listed() -> None:
    of_sdk = {value for name, value in vars(pulumi_policy.proxy).items() if name.startswith("UNKNOWN_")}
    assert len(of_sdk) == 7
    assert of_sdk == UNKNOWNS


def sources() -> Iterator[Path]:
    for package in ("components", "llmd_common", "llmd_gke", "localcloud", "operations", "policies", "tests"):
        yield from (ROOT / package).rglob("*.py")


@pytest.mark.parametrize("mark", [SIGNATURE, SECRET, OUTPUT, ASSET, ARCHIVE, *sorted(UNKNOWNS)])
def test_each_is_written_in_one_file(mark: str) -> None:
    assert [file for file in sources() if mark in file.read_text()] == [Path(pulumi_signatures.__file__)]
