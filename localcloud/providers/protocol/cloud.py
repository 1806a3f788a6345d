"""The cloud: one JSON file per provider, shared by every process and every stack that uses it.

Readers need no lock, since the file is replaced in one step; a writer holds a lock file from reading to replacing.
Waiting happens outside the lock, so that two operations can be under way at once.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from localcloud.providers.protocol.values import JsonObject


class CloudFile:
    """A JSON object in a file. ``read()`` gives a snapshot, ``edit()`` a change that other processes see in whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._threads = threading.Lock()  # a POSIX lock does not keep threads of one process apart

    def read(self) -> JsonObject:
        """The current content; empty if there is no file yet. Raises ``ValueError`` for a damaged file."""
        try:
            return cast(JsonObject, json.loads(self.path.read_text()))
        except FileNotFoundError:
            return {}
        except json.JSONDecodeError as error:
            raise ValueError(
                f"{self.path} is not JSON ({error}). Fix: remove the file; the rehearsal's cloud then starts empty"
            ) from None

    @contextmanager
    def edit(self) -> Generator[JsonObject, None, None]:
        """The content under the lock; written back when the block ends without an exception."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._threads, self.path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            content = self.read()
            before = json.dumps(content)
            yield content
            if (made := json.dumps(content)) == before and self.path.exists():
                return
            handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}-")
            with os.fdopen(handle, "w") as file:
                file.write(made)
            Path(temporary).replace(self.path)
