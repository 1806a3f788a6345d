"""Folders whose files change all at once, as the kubelet writes Secrets, ConfigMaps and tokens.

A folder of the time, the link ``..data`` to it, and a link per file by way of ``..data``: programs that watch for a
change of that link see either the old files or the new ones (k8s.io/kubernetes ``pkg/volume/util/atomic_writer.go``).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

DATA = "..data"


@dataclass(frozen=True)
class File:
    """Content and permission bits."""

    content: bytes
    mode: int = 0o644


def write(folder: Path, files: Mapping[str, File]) -> bool:
    """Updates a folder to that content; returns ``False`` if it already has it. Raises ``ValueError`` for a path
    outside.
    """
    for path in files:
        parts = PurePosixPath(path).parts
        if not parts or PurePosixPath(path).is_absolute() or ".." in parts:
            raise ValueError(f'path "{path}" must be relative and without ".."')
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / DATA
    if data.is_symlink() and _content(data) == {path: file.content for path, file in files.items()}:
        return False
    old = data.resolve() if data.is_symlink() else None
    new = Path(tempfile.mkdtemp(prefix="..", dir=folder))
    new.chmod(0o755)
    for path, file in files.items():
        target = new / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.content)
        target.chmod(file.mode)
    fresh = folder / "..data_tmp"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(new.name)
    fresh.replace(data)
    shown = {PurePosixPath(path).parts[0] for path in files}
    for name in shown:
        link = folder / name
        if not link.is_symlink():
            link.symlink_to(f"{DATA}/{name}")
    for link in folder.iterdir():
        if link.is_symlink() and link.name != DATA and link.name not in shown:
            link.unlink()
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)
    return True


def _content(data: Path) -> dict[str, bytes]:
    root = data.resolve()
    return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}
