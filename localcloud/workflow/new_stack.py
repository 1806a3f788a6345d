"""A new stack file: a copy of the cheapest included one, under another name."""

from __future__ import annotations

import re
from pathlib import Path

from llmd_gke.problems import BadInput
from llmd_gke.rules.names import CLUSTER_NAME_LIMIT
from llmd_gke.settings import stack_files

FROM = "dev"
"""The stack file that is copied: one spot chip, internal, so that mistakes cost least."""


def write(root: Path, stack: str) -> str:
    """Writes ``Pulumi.<stack>.yaml`` in ``root`` and returns what to do next.

    Raises ``BadInput`` for a name that no stack can have, and for a file that exists.
    """
    try:
        stack_files.check_name(stack)
        text = stack_files.text(root, FROM)
    except stack_files.Unusable as unusable:
        raise BadInput(f"{unusable}.\nFix: {unusable.finding.fix}") from None
    file = root / f"Pulumi.{stack}.yaml"
    cluster = re.sub(r"[^a-z0-9-]+", "-", f"llmd-{stack.lower()}")[:CLUSTER_NAME_LIMIT].rstrip("-")
    # The first line is for editors; the other comments above the settings describe the copied stack.
    text = re.sub(r"(?m)\A(# yaml-language-server.*\n)?(?:#.*\n)*", r"\1", text)
    text, changed = re.subn(r"\bllmd-dev\b", cluster, text)
    if not changed:
        raise BadInput(f"Pulumi.{FROM}.yaml does not have a cluster named llmd-dev.\nFix: copy a stack file by hand")
    try:
        with file.open("x", encoding="utf-8") as made:
            made.write(text)
    except FileExistsError:
        raise BadInput(f"{file.name} already exists.\nFix: make new STACK=ANOTHER-NAME, or edit it") from None
    return (
        f"{file.name} is a copy of Pulumi.{FROM}.yaml: one spot chip, internal.\n"
        f"Next: set gcp:project, zone, pool and model there (docs/settings.md), then make preview STACK={stack}."
    )
