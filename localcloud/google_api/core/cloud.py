"""The emulator's state: resources as Google's API shows them, policies, operations, the last requests.

``google.json`` in the same folder contains the same objects in another form, which the rules and the stand-ins for
Kubernetes read. Both files change together, under one lock.
"""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from localcloud.google_api.core.faults import ApiFaults
from localcloud.google_api.core.journal import Journal
from localcloud.google_api.rules.resource_type import CloudState
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.values import JsonObject, text

API_FILE = "google-api.json"
"""Resources as Google's API shows them, operations and faults; in the folder of ``google.json``."""
PROJECT_NUMBER = "123456789012"
"""Project number of every project."""

KEPT_OPERATIONS = 200
"""Number of completed operations that are kept: a client asks for its own soon."""

Ending = Callable[["EmulatedCloud", JsonObject], str]
"""Completes an operation when its time is over; returns the reason of a failure, or ``""``."""
ENDINGS: dict[str, Ending] = {}
"""By name, so that any process can end what another one began: its process numbers say nothing to one that lives
outside of the laptop cloud, and it may have been killed."""


def ends(name: str) -> Callable[[Ending], Ending]:
    """Registers an ending under the name that :meth:`Cloud.begin` takes."""

    def register(ending: Ending) -> Ending:
        ENDINGS[name] = ending
        return ending

    return register


class EmulatedCloud:
    """The state of one project, and of every other. Several processes may serve the same folder."""

    def __init__(self, folder: Path, url: str = "http://127.0.0.1:0") -> None:
        self.url, self.folder, self.faults = url, folder, ApiFaults()
        self.lock = threading.RLock()
        self.requests = Journal(folder / "google-requests.jsonl")
        self._file, self._objects = CloudFile(folder / API_FILE), CloudFile(folder / "google.json")
        self._take({})

    def number(self) -> int:
        """A number that was never returned before."""
        self._count += 1
        return self._count

    def etag(self) -> str:
        """A new etag."""
        return f"v{self.number():08x}="

    @contextmanager
    def state(self) -> Generator[CloudState]:
        """The objects as the rules see them; written back when the block ends without an exception."""
        with self._objects.edit() as content:
            yield CloudState(content, self.faults.conditions, self.folder)

    @contextmanager
    def opened(self) -> Generator[None]:
        """Loads the current state, also if another process has changed it; writes it back when the block ends."""
        with self.lock, self._file.edit() as content:
            self._take(content)
            yield
            content["count"] = self._count
            content["faults"] = self.faults.shown()

    def look(self) -> None:
        """Loads the current state for reading: writes nothing and creates no folder."""
        with self.lock:
            self._take(self._file.read())

    def _take(self, content: JsonObject) -> None:
        """Makes ``content`` the state: changes of resources, policies and operations change it."""
        self.resources = cast("dict[str, JsonObject]", content.setdefault("resources", {}))
        self.policies = cast("dict[str, JsonObject]", content.setdefault("policies", {}))
        self.operations = cast("dict[str, JsonObject]", content.setdefault("operations", {}))
        self._count = int(str(content.get("count", 0)))
        self.faults.take(cast("list[JsonObject]", content.get("faults", [])))

    # -- resources -------------------------------------------------------------------------------------------------

    def below(self, collection: str) -> dict[str, JsonObject]:
        """The direct members of a collection such as ``compute/projects/p/global/networks``, by their key."""
        prefix = f"{collection}/"
        return {
            key: value
            for key, value in self.resources.items()
            if key.startswith(prefix) and "/" not in key[len(prefix) :]
        }

    def copy(self, key: str) -> JsonObject | None:
        """A copy of a resource; ``None`` if it does not exist."""
        record = self.resources.get(key)
        return copy.deepcopy(record) if record is not None else None

    def found(self, key: str, absent: Exception) -> JsonObject:
        """A copy of a resource; raises ``absent`` if it does not exist."""
        record = self.copy(key)
        if record is None:
            raise absent
        return record

    def keep(self, kind: str, name: str, inputs: JsonObject) -> None:
        """Shows a resource to the rules, as one that runs."""
        with self.state() as cloud_state:
            cloud_state.put(kind, name, {"inputs": inputs, "computed": {}, "status": "RUNNING"})

    def drop(self, kind: str, key: str) -> None:
        """Removes a resource, here and for the rules."""
        self.resources.pop(key, None)
        with self.state() as cloud_state:
            cloud_state.drop(kind, key)

    # -- operations ------------------------------------------------------------------------------------------------

    def begin(self, name: str, operation: JsonObject, seconds: float, ending: str = "") -> None:
        """Starts an operation that takes ``seconds``. ``ending``, a key of :data:`ENDINGS`, completes it then.

        ``operation`` contains the input of the ending. Without an ending the operation ends with its ``failure``, if it
        has one.
        """
        self.operations[name] = operation | {"startedAt": time.time(), "seconds": seconds, "ending": ending}
        self.advance()

    def advance(self) -> None:
        """Completes every operation whose time is over, and forgets the oldest."""
        for operation in self.operations.values():
            if operation.get("over") or _elapsed(operation) < _seconds(operation):
                continue
            operation["over"] = True
            name = text(operation, "ending")
            if name and (failed := ENDINGS[name](self, operation)):
                operation["failure"] = failed
            operation.pop("stored", None)
        over = [name for name, operation in self.operations.items() if operation.get("over")]
        for name in over[:-KEPT_OPERATIONS]:
            del self.operations[name]

    def progress(self, name: str) -> tuple[str, int, str]:
        """Status, per cent and failure of an operation. Changes nothing, so that it can be asked while others write."""
        operation = self.operations[name]
        if operation.get("over"):
            return "DONE", 100, str(operation.get("failure") or "")
        return "RUNNING", min(99, int(100 * _elapsed(operation) / max(_seconds(operation), 0.001))), ""


def _elapsed(operation: JsonObject) -> float:
    return time.time() - float(str(operation.get("startedAt") or 0))


def _seconds(operation: JsonObject) -> float:
    return float(str(operation.get("seconds") or 0))
