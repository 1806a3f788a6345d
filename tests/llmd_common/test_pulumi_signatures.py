"""Pulumi's marks are those of its SDK."""

from __future__ import annotations

import pulumi_policy.proxy
from pulumi.runtime import rpc

from llmd_common.pulumi_signatures import ARCHIVE, ASSET, OUTPUT, SECRET, SIGNATURE, UNKNOWN, UNKNOWNS


def test_they_are_those_of_the_sdk() -> None:
    sdk = vars(rpc)
    names = ("special_sig_key", "special_secret_sig", "special_output_value_sig", "special_asset_sig")
    assert [sdk[f"_{name}"] for name in (*names, "special_archive_sig")] == [SIGNATURE, SECRET, OUTPUT, ASSET, ARCHIVE]
    assert sdk["UNKNOWN"] == UNKNOWN


def test_every_unknown_value_of_the_sdk_is_listed() -> None:
    of_sdk = {value for name, value in vars(pulumi_policy.proxy).items() if name.startswith("UNKNOWN_")}
    assert len(of_sdk) == 7
    assert of_sdk == UNKNOWNS
