"""The supervisor's status of a cluster: a file that is written inside the namespaces and read outside."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

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


_STATUS = TypeAdapter(Status)


def write(file: Path, status: Status) -> None:
    """Replaces the file in one step."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    temporary.write_bytes(_STATUS.dump_json(status))
    temporary.replace(file)


def read(file: Path) -> Status | None:
    """The last status that the supervisor wrote; ``None`` if there is none."""
    try:
        return _STATUS.validate_json(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None
