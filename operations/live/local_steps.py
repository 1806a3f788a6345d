"""Steps that may call a laptop cloud: they run as child processes, because this process must stay outside of its
namespaces.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from llmd_common.kubernetes.fields import each
from operations.exits import Failed
from operations.live.calls import call
from operations.target import Target

if TYPE_CHECKING:
    from operations.bench.result import BenchResult

Say = Callable[[str], None]
Table = Mapping[str, object]


def status(target: Target, say: Say) -> Table:
    """The JSON of ``llmd-gke status``. Raises ``Failed`` if the command printed none."""
    return _asked(target, "status", say=say)


def smoke(target: Target, junit: Path, say: Say) -> dict[str, str]:
    """The verdict of each check of ``llmd-gke smoke``, by ``model: check``. Raises ``Failed`` if there are none."""
    answer = _asked(target, "smoke", "--junit", str(junit.absolute()), say=say)
    return {f"{one['model']}: {one['name']}": one["verdict"] for one in each(answer, "checks")}


def bench(target: Target, model: str, folder: Path, say: Say, *, seconds: float, most: int) -> BenchResult:
    """The result of ``llmd-gke bench``, which writes its files to ``folder``. Raises ``Failed`` if there is none."""
    from operations.bench import result

    limits = ("--seconds", f"{seconds:g}", "--most", str(most))
    _asked(target, "bench", "--model", model, *limits, "--folder", str(folder.absolute()), say=say)
    return result.read(folder / "result.json")


def _asked(target: Target, name: str, *arguments: str, say: Say) -> Table:
    """The JSON that a command prints, also if it exits with status 1 because of a bad result."""
    done = call(target, name, *arguments, "--output", "json", say=lambda line: say(f"{name}: {line}"))
    if not done.output.strip():
        raise Failed(f"llmd-gke {name} exited with status {done.status}: {done.end_of_errors or 'it printed nothing'}")
    return cast("Table", json.loads(done.output))
