"""What the stand-in writes and reads: its files, its faults, and secrets on the wire.

``real_kubernetes/test_providers_agree.py`` compares its steps with the real provider's; ``real_engine`` and
``life_cycle`` run whole programs on it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.faults import Faults
from localcloud.providers.protocol.values import Bag, decode, encode, redact, restore


def test_a_change_that_fails_leaves_the_file_as_it_was(tmp_path: Path):
    cloud = CloudFile(tmp_path / "cloud.json")
    with cloud.edit() as content:
        content["kept"] = 1

    with pytest.raises(RuntimeError), cloud.edit() as content:  # noqa: PT012 - the block is what fails
        content["lost"] = 2
        raise RuntimeError("in the middle")
    assert cloud.read() == {"kept": 1}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cloud.json", "cloud.lock"]


def test_a_damaged_file_is_named(tmp_path: Path):
    (tmp_path / "cloud.json").write_text("{")
    with pytest.raises(ValueError, match=r"cloud\.json is not JSON.*remove the file"):
        CloudFile(tmp_path / "cloud.json").read()


def test_a_misspelt_fault_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "faults.json").write_text('{"stockouts": []}')
    monkeypatch.setenv("LLMD_GKE_FAULTS", str(tmp_path / "faults.json"))
    with pytest.raises(ValueError, match=r"stockouts: \[\]: Extra inputs are not permitted"):
        Faults().read()


def test_secrets_survive_the_wire_both_ways():
    bag = decode(encode({"a": {"b": "x"}, "c": [1, "y"]}, [("a", "b"), ("c", 1)]))
    assert bag == Bag({"a": {"b": "x"}, "c": [1, "y"]}, frozenset({("a", "b"), ("c", 1)}))


def test_a_redacted_secret_comes_back_only_to_who_knows_it():
    stored = redact({"a": {"b": "x"}, "c": "z"}, [("a", "b")])
    assert "x" not in json.dumps(stored["a"]).replace("sha256", "")[:20]
    assert restore(stored, {"a": {"b": "x"}}) == {"a": {"b": "x"}, "c": "z"}
    assert restore(stored, {"a": {"b": "wrong"}}) == stored
