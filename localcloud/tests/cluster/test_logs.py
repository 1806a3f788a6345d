"""Logs of processes and containers: their end, for messages, and their size."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.cluster import logs
from localcloud.common.layout import Layout


def test_a_large_log_moves_aside_and_the_process_goes_on_at_its_beginning(tmp_path: Path) -> None:
    log = tmp_path / "one.log"
    with log.open("ab") as file:
        file.write(b"old\n" * 100)
        file.flush()
        logs.rotate(log, limit=100)
        file.write(b"new\n")
    assert log.read_bytes() == b"new\n"
    assert (tmp_path / "one.previous.log").read_bytes() == b"old\n" * 25, "the last of it, as much as the limit"


def test_a_log_gives_its_room_back_also_when_there_is_none_for_a_copy(tmp_path: Path) -> None:
    log = tmp_path / "one.log"
    log.write_bytes(b"old\n" * 100)
    logs.previous(log).symlink_to("/dev/full")
    logs.rotate(log, limit=100)
    assert log.read_bytes() == b""
    assert not logs.previous(log).is_symlink()


@pytest.mark.parametrize(
    "name", ["logs/etcd.log", "logs/envoy.log", "gateway/envoy/access.log", "pods/models_qwen-0/main.3.log"]
)
def test_every_log_of_a_cluster_is_kept_small(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "LIMIT", 100)
    monkeypatch.setattr(logs, "CONTAINER_LIMIT", 100)
    log = Layout(tmp_path).root / name
    log.parent.mkdir(parents=True)
    log.write_bytes(b"old\n" * 100)
    for _ in range(2):  # what was moved aside is not moved again
        logs.keep_small(Layout(tmp_path))
    assert {file.name: file.stat().st_size for file in log.parent.iterdir()} == {
        log.name: 0,
        logs.previous(log).name: 100,
    }
