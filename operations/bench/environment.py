"""The benchmark's Python environment: it is large, and therefore separate from ``.venv`` and created at first use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from llmd_common import bootstrap, child_process
from llmd_gke.repository import CLONE
from operations.exits import SetUpFailed
from operations.printing import last_line

SET = "bench"


def python(say: Callable[[str], None]) -> Path:
    """The interpreter of the environment, which is installed if missing (0.7 GB, pinned by hash).

    Raises ``SetUpFailed``.
    """
    try:
        return bootstrap.beside(SET, say)
    except bootstrap.BootstrapFailed as failed:
        raise SetUpFailed(str(failed)) from None


def generator() -> str:
    """The load generator with its pinned version, such as ``guidellm 0.5.0``."""
    pins = bootstrap.requirements(SET, "in").read_text()
    return next(line.strip() for line in pins.splitlines() if line.startswith("guidellm"))


def plots(where: Path, result: Path, folder: Path) -> list[Path]:
    """Draws a result with the interpreter ``where``; returns the files. Raises ``SetUpFailed`` with its error
    output.
    """
    done = child_process.run(
        [str(where), "-m", f"{__package__}.plots", str(result), str(folder)],
        environment={"PYTHONPATH": str(CLONE), "MPLCONFIGDIR": str(where.parents[1] / "matplotlib")},
    )
    if done.returncode:
        raise SetUpFailed(f"The plots could not be drawn: {last_line(done.stderr)}")
    return [Path(line) for line in done.stdout.splitlines()]
