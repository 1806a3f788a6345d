"""Ends an ``up`` after a preview if nothing would change.

An update runs program, policies and providers a second time only to find the same. The preview alone does not tell
this: an update also saves what no event of the engine contains, such as dependencies between resources. So the update
is left out only if the project's files, the stack file, the environment's settings, the engine and the state are also
those of the last complete update. ``up --always`` switches this off.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from localcloud.common.files import write
from localcloud.common.workdir import Workdir
from localcloud.workflow import config, event_log, pack, state

STACK_TYPE = "pulumi:pulumi:Stack"
LARGE_BYTES = 1_000_000
"""Larger files count by size and time of change: no program is that large, and reading them would take long."""


def inputs(workdir: Workdir, stack: str, engine: Path) -> str:
    """A digest of everything that decides what an update registers: files, stack file, packs, environment, engine."""
    digest = hashlib.sha256(str(engine).encode())
    for folder in (workdir.root, Path(__file__).resolve().parents[1], *pack.more()):
        for file in _files(folder):
            digest.update(f"\0{file}\0".encode() + _content(file))
    digest.update(json.dumps(_settings(workdir, stack), sort_keys=True).encode())
    if policy_configuration := pack.configuration():
        digest.update(policy_configuration.read_bytes())
    for name in sorted(os.environ):
        if name.startswith("LLMD_GKE_"):
            digest.update(f"\0{name}={os.environ[name]}".encode())
    return digest.hexdigest()


def _settings(workdir: Workdir, stack: str) -> dict[str, object]:
    """The stack file's copy, whatever its format: the engine writes it anew when it adds the salt of the first update.

    The state contains the salt, too.
    """
    copy = workdir.stack_copy(stack)
    return {key: value for key, value in config.read(copy.read_text(), str(copy)).items() if key != "encryptionsalt"}


def _content(file: Path) -> bytes:
    info = file.stat()
    if info.st_size > LARGE_BYTES:
        return f"{info.st_size} {info.st_mtime_ns}".encode()
    return hashlib.sha256(file.read_bytes()).digest()


def _files(folder: Path) -> Iterator[Path]:
    """The files below a folder in a fixed order, without hidden ones, compiled ones and stack files.

    Links to folders are followed at the top only, where they cannot lead back.
    """
    for top in sorted(folder.iterdir()):
        if top.name == "__pycache__" or (top.name.startswith((".", "Pulumi.")) and top.name != "Pulumi.yaml"):
            continue
        if not top.is_dir():
            yield from [top] if top.is_file() else []
            continue
        for parent, folders, names in os.walk(top.resolve()):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
            yield from (Path(parent, name) for name in sorted(names) if Path(parent, name).is_file())


def is_complete(workdir: Workdir, stack: str, digest: str) -> bool:
    """Whether the last complete update had these inputs, and its state is still the present one."""
    try:
        return _record(workdir, stack).read_text(encoding="utf-8") == _line(workdir, stack, digest)
    except FileNotFoundError:
        return False


def record(workdir: Workdir, stack: str, digest: str) -> None:
    """Records a complete update."""
    write(_record(workdir, stack), _line(workdir, stack, digest), 0o600)


def _record(workdir: Workdir, stack: str) -> Path:
    return workdir.home / f"complete-{stack}"


def _line(workdir: Workdir, stack: str, digest: str) -> str:
    content = (state.folder(workdir) / f"{stack}.json").read_bytes()
    return f"{digest} {hashlib.sha256(content).hexdigest()}\n"


def changes_nothing(events: Path) -> bool:
    """Whether the event log of a preview shows only resources, and outputs of the stack, that stay the same."""
    same = False
    for event in event_log.read(events):
        if "summaryEvent" in event:
            same = set(event["summaryEvent"].get("resourceChanges") or {}) == {"same"}
        outputs = event.get("resOutputsEvent", {}).get("metadata", {})
        if outputs.get("type") == STACK_TYPE and _outputs(outputs, "old") != _outputs(outputs, "new"):
            return False
    return same


def _outputs(metadata: dict[str, Any], which: str) -> object:
    present = cast("dict[str, Any]", metadata.get(which) or {})
    return present.get("outputs") or {}
