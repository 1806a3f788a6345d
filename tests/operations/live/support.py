"""An acceptance run with engine commands of the test."""

from __future__ import annotations

from pathlib import Path

from operations.live import run as live_run
from operations.live.evidence import Evidence
from operations.options import Cloud
from operations.target import Target

ROOT = Path(__file__).parents[3]
TARGET = Target("eu4a", Cloud.GOOGLE, ROOT)


def quiet(text: str) -> None:
    pass


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().split()


def verdicts(seen: Evidence) -> dict[str, str]:
    return {step.name: step.verdict for step in seen.steps}


def go(folder: Path) -> Evidence:
    return live_run.Run(TARGET, live_run.Plan(folder / "out"), quiet).all()
