"""Copies of the stack files, for the engine to work with.

The engine writes ``encryptionsalt`` into the file it reads a stack's settings from. So it gets a copy, brought up to
date before every command, which alone keeps the salt, and the committed file never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import yaml

from llmd_common.problems import BadInput
from localcloud.common.files import write
from localcloud.common.workdir import Workdir
from localcloud.product.settings import STAND_IN_SECRET, stack_files
from localcloud.workflow import backend

DUMMY = STAND_IN_SECRET
"""Placeholder for secrets that only their owner can decrypt, or that the stack file lacks."""

SALT = "encryptionsalt"
FOREIGN = ("secretsprovider", "encryptedkey", SALT, "environment")
"""Keys that tie a stack file to the secrets and environments of its backend; copies do not have them."""

Table = Mapping[str, object]


def check_name(stack: str) -> str:
    """The name, if it is valid. Raises ``BadInput`` otherwise."""
    try:
        return stack_files.check_name(stack)
    except stack_files.Unusable as unusable:
        raise _refused(unusable) from None


def _refused(unusable: stack_files.Unusable) -> BadInput:
    finding = unusable.finding
    allowed = f"Allowed: {finding.allowed}.\n" if finding.allowed else ""
    return BadInput(f"{finding.problem[0].upper()}{finding.problem[1:]}.\n{allowed}Fix: {finding.fix}.")


def is_secret(value: object) -> bool:
    """Whether a value is an encrypted one."""
    return isinstance(value, dict) and list(cast("dict[str, object]", value)) == ["secure"]


def without_secrets(value: object) -> object:
    """The value with dummies in place of encrypted ones, at any depth."""
    if is_secret(value):
        return DUMMY
    if isinstance(value, dict):
        return {key: without_secrets(one) for key, one in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [without_secrets(one) for one in cast("list[object]", value)]
    return value


def merged(committed: Table, copy: Table, required: Sequence[str]) -> dict[str, object]:
    """The next copy: the committed settings, the salt of the present copy, and a value for every secret.

    A secret that was set in the rehearsal itself (``pulumi config set --secret`` in its shell) is kept; any other
    gets a dummy. ``required`` names the secrets that the stack needs.
    """
    config = cast("dict[str, object]", without_secrets(committed.get("config") or {}))
    ours = {key: value for key, value in cast("Table", copy.get("config") or {}).items() if is_secret(value)}
    given = cast("Table", committed.get("config") or {})
    kept = {key: value for key, value in ours.items() if key not in given or is_secret(given[key])}
    dummies = {key: DUMMY for key in required if key not in config}
    result = {key: value for key, value in committed.items() if key not in (*FOREIGN, "config")}
    result["config"] = {**config, **dummies, **kept}
    if salt := copy.get(SALT):
        result[SALT] = salt
    return result


def stood_in(table: Table, committed: Table, required: Sequence[str]) -> list[str]:
    """The needed secrets that neither the stack file nor the copy has: Google Cloud would reject the stack without
    them.
    """
    given, made = (cast("Table", one.get("config") or {}) for one in (committed, table))
    return [key for key in required if key not in given and made.get(key) == DUMMY]


def read(text: str, name: str) -> Table:
    """A stack file's content. Raises ``BadInput`` for text that is not a YAML mapping."""
    try:
        content = stack_files.content(text, name)
    except stack_files.Unusable as unusable:
        raise _refused(unusable) from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise BadInput(f"{name} is not a YAML mapping.\nFix: see Pulumi.eu4a.yaml for a complete one.")
    return cast("Table", content)


def sync(
    workdir: Workdir, stack: str, required: Sequence[str] = (), note: Callable[[str], None] | None = None
) -> list[str]:
    """Brings the copy up to date with the committed file. Returns the needed secrets that only a stand-in has.

    ``note`` gets a sentence for each setting that this cloud does not support.

    Raises ``BadInput`` if the file is missing or unreadable.
    """
    try:
        text = stack_files.text(workdir.root, stack)
    except stack_files.Unusable as unusable:
        raise _refused(unusable) from None
    file, copy = workdir.stack_file(stack), workdir.stack_copy(stack)
    present: Table = read(copy.read_text(encoding="utf-8"), str(copy)) if copy.exists() else {}
    committed = read(text, file.name)
    table = merged(committed, present, required)
    for adapted in backend.of(workdir).adapt_settings(table):
        if note:
            note(adapted)
    content = yaml.safe_dump(table, sort_keys=False, allow_unicode=True)
    copy.parent.mkdir(parents=True, exist_ok=True)
    write(
        copy,
        f"# A copy of {file.name} for the {workdir.label}, rewritten before every command.\n{content}",
        0o600,
    )
    return stood_in(table, committed, required)
