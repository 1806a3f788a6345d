"""Endpoints of Services, and folders whose files change at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from localcloud.nodes import projected
from localcloud.nodes.projected import File
from localcloud.service_network.routing_table import table

SERVICE = {
    "metadata": {"name": "s", "namespace": "n"},
    "spec": {"clusterIPs": ["10.96.0.9"], "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]},
}


def endpoints(*conditions: tuple[str, dict[str, bool]]) -> dict[str, Any]:
    return {
        "metadata": {"name": "s-1", "namespace": "n", "labels": {"kubernetes.io/service-name": "s"}},
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 8000}],
        "endpoints": [{"addresses": [address], "conditions": state} for address, state in conditions],
    }


READY = {"ready": True}
ENDING = {"ready": False, "serving": True, "terminating": True}


def test_ending_endpoints_serve_only_when_no_other_is_left() -> None:
    address = ("10.96.0.9", 80)
    both = [endpoints(("10.244.1.2", READY), ("10.244.1.3", ENDING))]
    assert table([SERVICE], both) == {address: (("10.244.1.2", 8000),)}
    assert table([SERVICE], [endpoints(("10.244.1.3", ENDING))]) == {address: (("10.244.1.3", 8000),)}


def test_files_change_all_at_once_and_the_old_ones_go(tmp_path: Path) -> None:
    assert projected.write(tmp_path, {"a": File(b"1"), "deep/b": File(b"2", 0o600)})
    before = (tmp_path / "..data").readlink()
    assert (tmp_path / "a").read_text() == "1"
    assert (tmp_path / "deep" / "b").stat().st_mode & 0o777 == 0o600
    assert projected.write(tmp_path, {"a": File(b"new")})
    assert (tmp_path / "a").read_text() == "new"
    assert sorted(one.name for one in tmp_path.iterdir() if not one.name.startswith("..")) == ["a"]
    assert (tmp_path / "..data").readlink() != before
    assert not (tmp_path / before).exists()


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../../up", ""])
def test_no_file_is_written_outside(path: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be relative"):
        projected.write(tmp_path / "volume", {path: File(b"x")})
    assert list(tmp_path.iterdir()) == []
