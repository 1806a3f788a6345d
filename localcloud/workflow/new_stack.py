"""A new stack file: a copy of the cheapest included one, under another name and with a front door."""

from __future__ import annotations

import re
from pathlib import Path

from llmd_common.problems import BadInput
from localcloud.product import CLUSTER_NAME_LIMIT
from localcloud.product.settings import stack_files

FROM = "dev"
"""The stack file that is copied: one spot chip, internal, so that mistakes cost least."""

CALLER = "trial"
FRONT_DOOR = f"""\
  llmd-gke:frontDoor: # one address /v1 for all models, with keys (docs/front-door.md)
    callers:
      - name: {CALLER}
"""
"""Whoever starts today has one; stacks that exist keep their paths without keys until they ask for it."""
MODELS = "  llmd-gke:models:\n"


def write(root: Path, stack: str) -> str:
    """Writes ``Pulumi.<stack>.yaml`` in ``root`` and returns what to do next.

    Raises ``BadInput`` for a name that no stack can have, and for a file that exists.
    """
    try:
        stack_files.check_name(stack)
        text = stack_files.text(root, FROM)
    except stack_files.Unusable as unusable:
        allowed = f" Allowed: {unusable.finding.allowed}." * bool(unusable.finding.allowed)
        raise BadInput(f"{unusable}.{allowed}\nFix: {unusable.finding.fix}") from None
    file = root / f"Pulumi.{stack}.yaml"
    cluster = re.sub(r"[^a-z0-9-]+", "-", f"llmd-{stack.lower()}")[:CLUSTER_NAME_LIMIT].rstrip("-")
    # The first line is for editors; the other comments above the settings describe the copied stack.
    text = re.sub(r"(?m)\A(# yaml-language-server.*\n)?(?:#.*\n)*", r"\1", text)
    text, changed = re.subn(r"\bllmd-dev\b", cluster, text)
    if not changed or MODELS not in text:
        raise BadInput(
            f"Pulumi.{FROM}.yaml does not have a cluster named llmd-dev and models.\nFix: copy a stack file by hand"
        )
    if "llmd-gke:frontDoor:" not in text:
        text = text.replace(MODELS, FRONT_DOOR + MODELS)
    try:
        with file.open("x", encoding="utf-8") as made:
            made.write(text)
    except FileExistsError:
        raise BadInput(f"{file.name} already exists.\nFix: make new STACK=ANOTHER-NAME, or edit it") from None
    return (
        f"{file.name} is a copy of Pulumi.{FROM}.yaml with a front door: one spot chip, internal, with keys.\n"
        f"Next: set gcp:project, zone, pool and model there (docs/settings.md), then make preview STACK={stack}.\n"
        f"Before it goes to Google Cloud, its caller needs a key: .venv/bin/llmd-gke key new {CALLER} --stack {stack}"
    )
