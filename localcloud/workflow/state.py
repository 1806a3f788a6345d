"""Reads the file backend: stacks, their resources, unfinished operations of an ended run, and holders of locks.

Layout (pulumi/pulumi v3.259.0, pkg/backend/diy): ``.pulumi/stacks/<project>/<stack>.json`` and
``.pulumi/locks/organization/<project>/<stack>/<id>.json``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast

from llmd_common.problems import Stale
from llmd_common.pulumi_signatures import is_special
from localcloud.common.project import project
from localcloud.common.workdir import Workdir
from localcloud.product import protection

Object = Mapping[str, object]


@dataclass(frozen=True)
class Pending:
    """An operation that was under way when the engine ended."""

    urn: str
    kind: str
    type: str
    inputs: Mapping[str, object]


@dataclass(frozen=True)
class Stack:
    """The state of a stack. ``protected``: names of resources that must not be destroyed."""

    name: str
    urns: tuple[str, ...]
    ids: tuple[str, ...]
    pending: tuple[Pending, ...]
    outputs: Mapping[str, object]
    protected: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lock:
    """A lock file of the engine."""

    file: Path
    pid: int
    host: str
    since: datetime


def folder(workdir: Workdir) -> Path:
    """The folder with the states of this project's stacks."""
    return workdir.state / ".pulumi" / "stacks" / project(workdir)


def names(workdir: Workdir) -> list[str]:
    """The stacks that exist in this rehearsal."""
    return sorted(path.stem for path in folder(workdir).glob("*.json"))


def read(workdir: Workdir, stack: str) -> Stack | None:
    """The state of a stack; ``None`` if the stack does not exist. Raises ``Stale`` for a damaged file."""
    file = folder(workdir) / f"{stack}.json"
    try:
        content = cast("Object", json.loads(file.read_text()))
    except FileNotFoundError:
        return None
    except json.JSONDecodeError as error:
        raise Stale(
            f"The state of stack {stack} is damaged ({file}: {error}).\n"
            f"Fix: mv {file}.bak {file}; or delete everything with `rm -r {workdir.home}`, then run the command again."
        ) from None
    latest = cast("Object", cast("Object", content.get("checkpoint") or {}).get("latest") or {})
    resources = cast("Sequence[Object]", latest.get("resources") or [])
    operations = cast("Sequence[Object]", latest.get("pending_operations") or [])
    root = next((one for one in resources if one.get("type") == "pulumi:pulumi:Stack"), cast("Object", {}))
    return Stack(
        name=stack,
        urns=tuple(str(one["urn"]) for one in resources),
        ids=tuple(str(one["id"]) for one in resources if _is_object(one)),
        pending=tuple(_pending(one) for one in operations),
        outputs=cast("Object", root.get("outputs") or {}),
        protected=protection.protected(resources),
    )


def _pending(operation: Object) -> Pending:
    resource = cast("Object", operation["resource"])
    inputs = cast("Object", resource.get("inputs") or {})
    return Pending(str(resource["urn"]), str(operation["type"]), str(resource["type"]), inputs)


def _is_provider(resource: Object) -> bool:
    return str(resource.get("type")).startswith("pulumi:providers:")


def _is_object(resource: Object) -> bool:
    """Whether it is an object in a cloud: an enabled API is not."""
    return bool(resource.get("custom") and resource.get("id")) and not (
        _is_provider(resource) or resource.get("type") == "gcp:projects/service:Service"
    )


def locks(workdir: Workdir, stack: str) -> list[Lock]:
    """The engine's locks on a stack, also those of processes that have ended."""
    locks: list[Lock] = []
    for file in sorted(_locks(workdir, stack).glob("*.json")):
        try:
            content = cast("Object", json.loads(file.read_text()))
            since = datetime.fromisoformat(str(content["timestamp"])[:19] + "+00:00")
            locks.append(Lock(file, int(str(content["pid"])), str(content["hostname"]), since))
        except (OSError, ValueError, KeyError):  # deleted, or half written by a killed engine
            locks.append(Lock(file, 0, "", datetime.min))
    return locks


def mend(workdir: Workdir, stack: str) -> list[str]:
    """Repairs the state after an engine was killed while it wrote it; returns what was done. No engine may be running.

    A truncated state is replaced by the previous one, which the engine keeps as a backup; the difference is a pending
    operation there. Each file has a second one with its attributes: if that is empty, the engine cannot read the state
    ("failed to load checkpoint: EOF"); it may be missing (gocloud.dev blob/fileblob/attrs.go).
    """
    stored = folder(workdir)
    for kept in (stored, _locks(workdir, stack)):
        for file in kept.glob("*.attrs"):
            if not _is_json(file):
                file.unlink()
    for file in stored.glob(f"{stack}.json.*.tmp"):
        file.unlink()
    file, before = stored / f"{stack}.json", stored / f"{stack}.json.bak"
    if file.exists() and not _is_json(file) and _is_json(before):
        shutil.copyfile(before, file)
        return ["the state file was truncated; restored the previous state from its backup"]
    return []


def _is_json(file: Path) -> bool:
    try:
        json.loads(file.read_bytes())
    except (OSError, ValueError):
        return False
    return True


def _locks(workdir: Workdir, stack: str) -> Path:
    return workdir.state / ".pulumi" / "locks" / "organization" / project(workdir) / stack


def shown(value: object) -> str:
    """An output for people, with ``[secret]`` in place of anything secret."""
    if isinstance(value, dict):
        table = cast("dict[str, object]", value)
        if is_special(table):
            return "[secret]"
        return "{" + ", ".join(f"{key}: {shown(one)}" for key, one in table.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(shown(one) for one in cast("list[object]", value)) + "]"
    return str(value)
