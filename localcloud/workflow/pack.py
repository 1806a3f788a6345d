"""The policy packs of every preview and update: the project's, and the user's own."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from llmd_common.problems import BadInput
from localcloud.common.files import write
from localcloud.common.workdir import Workdir
from localcloud.workflow.arguments import Call

PACKS, CONFIG = "LLMD_GKE_POLICY_PACKS", "LLMD_GKE_POLICY_CONFIG"
"""Folders of more packs, with ``:`` between them, and a JSON file with the configuration of the project's pack."""

RUNS_POLICIES = frozenset({"up", "update", "preview", "pre", "watch"})
"""Subcommands and their aliases with ``--policy-pack`` that may create something or say what would be created
(pulumi/pulumi v3.259.0, pkg/cmd/pulumi/operations)."""


def folder(workdir: Workdir) -> Path:
    """The folder of the pack. Raises ``BadInput`` if it contains none: without it, nothing would be checked."""
    pack_folder = workdir.root / "policies"
    file = pack_folder / "PulumiPolicy.yaml"
    if not file.is_file():
        raise BadInput(f"{file} is missing: nothing would be checked against the policies.\nFix: git restore policies")
    return pack_folder


def more(environ: Mapping[str, str] | None = None) -> list[Path]:
    """The user's own packs, from ``$LLMD_GKE_POLICY_PACKS``. Raises ``BadInput`` for a folder that holds none."""
    given = (os.environ if environ is None else environ).get(PACKS, "")
    folders = [Path(one).absolute() for one in given.split(os.pathsep) if one]
    for one in folders:
        if not (one / "PulumiPolicy.yaml").is_file():
            raise BadInput(
                f"{PACKS}: {one} has no PulumiPolicy.yaml.\nAllowed: folders of policy packs, separated by "
                f"{os.pathsep!r}.\nFix: correct the path, or unset {PACKS}. See docs/custom-policies.md."
            )
    return folders


def configuration(environ: Mapping[str, str] | None = None) -> Path | None:
    """The configuration of the project's pack, from ``$LLMD_GKE_POLICY_CONFIG``. Raises ``BadInput`` for a file that is
    not JSON.
    """
    given = (os.environ if environ is None else environ).get(CONFIG, "")
    if not given:
        return None
    file = Path(given).absolute()
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{CONFIG}={given}: {error}\nFix: use a JSON file as in docs/policies.md.") from None
    if not isinstance(content, dict):
        raise BadInput(
            f"{CONFIG}={given}: not a JSON object.\nAllowed: an object with a key for each rule.\n"
            "Fix: see docs/policies.md."
        )
    return file


def flags(workdir: Workdir) -> list[str]:
    """The flags that make a preview or an update run the packs. Raises ``BadInput`` when one is missing."""
    return _flags(workdir, configured=False)


def _flags(workdir: Workdir, *, configured: bool, before: int = 0) -> list[str]:
    """``configured``: the command line names configurations already; ``before``: packs without one come first."""
    own, chosen = more(), configuration()
    flags = [word for one in (folder(workdir), *own) for word in ("--policy-pack", str(one))]
    if not (configured or chosen):
        return flags
    empty = workdir.home / "no-policy-config.json"
    write(empty, "{}\n", 0o644)
    files = [*[empty] * before, chosen or empty, *[empty] * len(own)]
    return [*flags, *(word for one in files for word in ("--policy-pack-config", str(one)))]


def missing_flags(workdir: Workdir, call: Call) -> list[str]:
    """The flags to add to a command line so that it runs the packs, too; none where it does so already.

    The engine requires as many ``--policy-pack-config`` as ``--policy-pack``, or none.
    """
    if call.command not in RUNS_POLICIES:
        return []
    ours = folder(workdir)
    start = Path(call.folder or os.curdir)
    if any((start / given).resolve() == ours.resolve() for given in call.packs):
        return []
    configured = bool(call.pack_configs)
    return _flags(workdir, configured=configured, before=0 if configured else len(call.packs))
