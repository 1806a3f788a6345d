"""The supervisor's status of a cluster: a file that is written inside the namespaces and read outside."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, cast

State = Literal["starting", "ready", "failed", "stopping"]
ProcessState = Literal["waiting", "starting", "ready", "pausing", "stopped"]


@dataclass
class ProcessStatus:
    """One process. ``pid`` is the number inside the namespaces, 0 if it does not run; ``since`` in Unix seconds.

    ``restarts`` counts every end, ``exits`` those since it last ran for a minute.
    """

    name: str
    state: ProcessState = "waiting"
    pid: int = 0
    restarts: int = 0
    exits: int = 0
    last_exit: str = ""
    since: float = 0.0


@dataclass
class Status:
    """The whole cluster. ``message``: why a start failed."""

    state: State
    message: str
    processes: list[ProcessStatus]


def write(file: Path, status: Status) -> None:
    """Replaces the file in one step."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    temporary.write_text(json.dumps(asdict(status)))
    temporary.replace(file)


def read(file: Path) -> Status | None:
    """The last status that the supervisor wrote; ``None`` if there is none."""
    try:
        content = cast("Mapping[str, object]", json.loads(file.read_text()))
    except (FileNotFoundError, NotADirectoryError, json.JSONDecodeError):
        return None
    processes = [ProcessStatus(**one) for one in cast("Sequence[Mapping[str, object]]", content["processes"])]  # pyright: ignore[reportArgumentType]
    return Status(cast("State", content["state"]), str(content["message"]), processes)
