"""Endpoints of Services, and folders whose files change at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from localcloud.nodes import projected
from localcloud.nodes.projected import File
from localcloud.service_network.routing_table import table


def service(address: str = "10.96.0.9", **port: Any) -> dict[str, Any]:
    ports = [{"name": "http", "port": 80, "protocol": "TCP", **port}]
    return {"metadata": {"name": "s", "namespace": "n"}, "spec": {"clusterIPs": [address], "ports": ports}}


def endpoints(*conditions: tuple[str, dict[str, bool]], port: str = "http") -> dict[str, Any]:
    return {
        "metadata": {"name": "s-1", "namespace": "n", "labels": {"kubernetes.io/service-name": "s"}},
        "addressType": "IPv4",
        "ports": [{"name": port, "port": 8000}],
        "endpoints": [{"addresses": [address], "conditions": state} for address, state in conditions],
    }


READY, UNREADY = {"ready": True}, {"ready": False}
ENDING = {"ready": False, "serving": True, "terminating": True}


def test_ready_endpoints_take_the_connections() -> None:
    routes = table([service()], [endpoints(("10.244.1.3", READY), ("10.244.1.2", READY), ("10.244.1.4", UNREADY))])
    assert routes == {("10.96.0.9", 80): (("10.244.1.2", 8000), ("10.244.1.3", 8000))}


def test_ending_endpoints_serve_only_when_no_other_is_left() -> None:
    assert table([service()], [endpoints(("10.244.1.2", READY), ("10.244.1.3", ENDING))]) == {
        ("10.96.0.9", 80): (("10.244.1.2", 8000),)
    }
    assert table([service()], [endpoints(("10.244.1.3", ENDING))]) == {("10.96.0.9", 80): (("10.244.1.3", 8000),)}


@pytest.mark.parametrize(
    ("one", "slices"),
    [
        (service("None"), [endpoints(("10.244.1.2", READY))]),
        (service(protocol="UDP"), [endpoints(("10.244.1.2", READY))]),
        (service(), [endpoints(("10.244.1.2", UNREADY))]),
        (service(), [endpoints(("10.244.1.2", READY), port="other")]),
        (service(), []),
    ],
    ids=["headless", "UDP", "nobody ready", "another port", "no slice"],
)
def test_nothing_listens_where_nothing_could_answer(one: dict[str, Any], slices: list[dict[str, Any]]) -> None:
    assert table([one], slices) == {}


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


def test_the_same_content_is_not_written_again(tmp_path: Path) -> None:
    projected.write(tmp_path, {"a": File(b"1")})
    before = (tmp_path / "..data").readlink()
    assert not projected.write(tmp_path, {"a": File(b"1")})
    assert (tmp_path / "..data").readlink() == before


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../../up", ""])
def test_no_file_is_written_outside(path: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be relative"):
        projected.write(tmp_path / "volume", {path: File(b"x")})
    assert list(tmp_path.iterdir()) == []
