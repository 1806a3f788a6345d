"""Which logs of a pod's containers are kept."""

from __future__ import annotations

from pathlib import Path

from localcloud.nodes import logs


def test_logs_of_the_last_runs_are_kept_and_older_ones_go(tmp_path: Path) -> None:
    for run in range(8):
        for name in ("main", "tokenizer"):
            (tmp_path / f"{name}.{run}.log").touch()
            (tmp_path / f"{name}.{run}.previous.log").touch()
    for run in range(8):
        logs.forget(tmp_path, "main", run)
    kept = sorted(file.name for file in tmp_path.glob("main.*"))
    assert kept == sorted(f"main.{run}{end}" for run in range(3, 8) for end in (".log", ".previous.log"))
    assert len(list(tmp_path.glob("tokenizer.*"))) == 16
