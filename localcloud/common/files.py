"""Files that are replaced in one step."""

from __future__ import annotations

import os
from pathlib import Path


def write(path: Path, content: str, mode: int) -> None:
    """Replaces a file in one step, when its content or mode differs."""
    if path.exists() and path.read_text() == content and path.stat().st_mode & 0o777 == mode:
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(handle, "w") as file:
        file.write(content)
        os.fchmod(file.fileno(), mode)
    temporary.replace(path)
