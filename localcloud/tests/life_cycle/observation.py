"""Reads what a rehearsal with the published provider holds: state, both clouds, logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from localcloud.tests.life_cycle.invariants import MEMBER, Entry, Resource, Seen
from localcloud.workflow import cloud_files, state
from tests.real_engine.harness import Rehearsal


def look(rehearsal: Rehearsal, stack: str) -> Seen:
    """Both sides as they are now. The clouds' own files are not among the texts: they hold secrets, as GKE does."""
    kept = rehearsal.kept()
    file = state.folder(rehearsal.workdir) / f"{stack}.json"
    latest: dict[str, Any] = {}
    if file.exists():
        latest = json.loads(file.read_text())["checkpoint"].get("latest") or {}
    google, kubernetes = (rehearsal.workdir.cloud / name for name in cloud_files.FILES)
    return Seen(
        exists=file.exists(),
        state=tuple(_resource(one) for one in latest.get("resources") or () if _compared(one)),
        pending=tuple(
            (kubernetes_kind(one["resource"]["type"]), one["resource"]["urn"].rpartition("::")[2])
            for one in latest.get("pending_operations") or ()
            if one["type"] == "creating"
        ),
        cloud=frozenset({*_objects(google), *_objects(kubernetes), *_members(kept)}),
        emulated=frozenset(kept.get("resources", {})),
        titles=tuple(
            (key.rpartition("/")[0], body["displayName"])
            for key, body in kept.get("resources", {}).items()
            if "displayName" in body and "/serviceAccounts/" not in key
        ),
        texts=_texts(rehearsal),
    )


def kubernetes_kind(kind: str) -> str:
    """A type of the engine as the stand-in's file writes it: ``v1/Namespace``; Google's types stay."""
    if not kind.startswith("kubernetes:"):
        return kind
    return kind.removeprefix("kubernetes:").removeprefix("core/").replace(":", "/")


def _compared(resource: dict[str, Any]) -> bool:
    return bool(resource.get("custom")) and not resource["type"].startswith("pulumi:")


def _resource(one: dict[str, Any]) -> Resource:
    return Resource(one["urn"], kubernetes_kind(one["type"]), one.get("id", ""), bool(one.get("delete")))


def _objects(file: Path) -> set[Entry]:
    return {(str(entry["type"]), ident) for ident, entry in cloud_files._entries(file)}


def _members(kept: dict[str, Any]) -> set[Entry]:
    """Roles in policies, with the provider's ids."""
    return {
        (MEMBER, f"{name.removeprefix('projects/')}/{binding['role']}/{member}")
        for name, policy in kept.get("policies", {}).items()
        for binding in policy.get("bindings", ())
        for member in binding["members"]
    }


def _texts(rehearsal: Rehearsal) -> dict[str, str]:
    workdir = rehearsal.workdir
    files = [file for file in workdir.state.rglob("*") if file.is_file()]
    files += [workdir.home / "last-events.jsonl", workdir.cloud / "calls.log", workdir.cloud / cloud_files.REQUESTS]
    return {file.name: file.read_text(errors="replace") for file in files if file.exists()}
