"""The policy pack of the project, which every preview and every update runs."""

from __future__ import annotations

import os
from pathlib import Path

from llmd_gke.problems import BadInput
from localcloud.common.files import write
from localcloud.common.workdir import Places
from localcloud.workflow.arguments import Call

RUNS_POLICIES = frozenset({"up", "update", "preview", "pre", "watch"})
"""Subcommands and their aliases with ``--policy-pack`` that may create something or say what would be created
(pulumi/pulumi v3.259.0, pkg/cmd/pulumi/operations)."""


def folder(places: Places) -> Path:
    """The folder of the pack. Raises ``BadInput`` when it holds none: without it, nothing would be checked."""
    found = places.root / "policies"
    file = found / "PulumiPolicy.yaml"
    if not file.is_file():
        raise BadInput(f"{file} is missing: nothing would be checked against the policies.\nFix: git restore policies")
    return found


def flags(places: Places) -> list[str]:
    """The flags that make a preview or an update run the pack. Raises ``BadInput`` when it is missing."""
    return ["--policy-pack", str(folder(places))]


def missing_flags(places: Places, call: Call) -> list[str]:
    """The flags to add to a command line so that it runs the pack, too; none where it does so already.

    The engine wants as many ``--policy-pack-config`` as ``--policy-pack``, or none of them.
    """
    if call.command not in RUNS_POLICIES:
        return []
    ours = folder(places)
    start = Path(call.folder or os.curdir)
    if any((start / given).resolve() == ours.resolve() for given in call.packs):
        return []
    if not call.pack_configs:
        return flags(places)
    empty = places.home / "no-policy-config.json"
    write(empty, "{}\n", 0o644)
    return [*flags(places), "--policy-pack-config", str(empty)]
