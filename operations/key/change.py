"""Changes the keys of callers in a stack file through the engine, which encrypts them."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from llmd_common import child_process
from llmd_common.kubernetes.fields import each, text
from llmd_gke.rules.callers import KEYS, caller_of
from operations.exits import BadInput, Failed, SetUpFailed
from operations.options import Cloud
from operations.printing import short
from operations.target import Target

KEY_BYTES = 33
"""Random bytes of a key: 44 characters."""
NEXT = "next"
"""Suffix of the name of a caller's second key; the first key has none. A rotation uses the free one of the two
names."""


@dataclass(frozen=True)
class KeyChange:
    """``name`` of the key that was set or removed, its ``value`` if it is new, and the commands that follow."""

    name: str
    value: str | None
    then: tuple[str, ...]

    @property
    def text(self) -> str:
        """The output for people: the caller with the new key, and the commands to run next."""
        head = f"{self.name}: removed" if self.value is None else f"{self.name}: {self.value}"
        return "\n".join([head, *(f"then: {command}" for command in self.then)])


def change(target: Target, action: str, caller: str) -> KeyChange:
    """Creates, rotates or revokes a key. Raises ``BadInput`` if the action does not fit the stack's callers and
    keys.
    """
    if target.cloud is not Cloud.GOOGLE:
        raise BadInput(
            "In a local cloud the key of each caller is rehearsal-dummy-key-of-the-caller-NAME and cannot be changed.\n"
            f"Fix: send that key, or: llmd-gke key {action} {caller} --stack {target.stack} --cloud google"
        )
    from llmd_gke.settings.load import read_config

    config = read_config(target.root, target.stack)  # unchecked: settings without a key are not valid yet
    names, callers = _names(config), [text(one, "name") for one in each(config, "llmd-gke:frontDoor", "callers")]
    if action == "revoke":
        return _revoke(target, caller, names, callers)
    if caller not in callers:
        raise BadInput(
            f"Stack {target.stack} has no caller {caller}.\nAllowed: {', '.join(callers) or 'none'}.\n"
            "Fix: add it to llmd-gke:frontDoor.callers"
        )
    own = [name for name in names if caller_of(name) == caller]
    if action == "new" and own:
        raise BadInput(f"Caller {caller} already has a key.\nFix: llmd-gke key rotate {caller} --stack {target.stack}")
    if action == "rotate" and len(own) != 1:
        have = " and ".join(own) or "no key"
        # Only the operator knows which of two keys the clients use.
        fix = f"new {caller}" if not own else f"revoke KEY, where KEY is the one ({have}) that no client uses any more,"
        raise BadInput(
            f"Caller {caller} has {have}; a rotation requires exactly one key.\n"
            f"Fix: llmd-gke key {fix} --stack {target.stack}"
        )
    name = caller if caller not in own else f"{caller}.{NEXT}"
    value = secrets.token_urlsafe(KEY_BYTES)
    _run(target, "set", "--secret", "--path", _path(name), stdin=value)
    old = tuple(f"llmd-gke key revoke {one} --stack {target.stack}" for one in own)
    return KeyChange(name, value, (target.up, *old))


def _revoke(target: Target, name: str, names: list[str], callers: list[str]) -> KeyChange:
    if name not in names:
        raise BadInput(
            f"Stack {target.stack} has no key {name}.\nAllowed: {', '.join(names) or 'none'}.\n"
            f"Fix: {'use one of these names' if names else f'llmd-gke key new CALLER --stack {target.stack} makes one'}"
        )
    # An empty table would count as a secret in plain text.
    _run(target, "rm", *(("--path", _path(name)) if len(names) > 1 else (KEYS,)))
    caller = caller_of(name)
    last = not any(caller_of(other) == caller for other in names if other != name)
    # `up` rejects a caller without a key, so that the old key would remain valid.
    first = (f"llmd-gke key new {caller} --stack {target.stack}",) if last and caller in callers else ()
    return KeyChange(name, None, (*first, target.up))


def _path(name: str) -> str:
    return f'{KEYS}["{name}"]'


def _names(config: Mapping[str, object]) -> list[str]:
    """Names of the keys in the stack file. Raises ``BadInput`` where all of them are one secret."""
    value = cast("object", config.get(KEYS) or {})
    if not isinstance(value, Mapping) or "secure" in value:
        raise BadInput(f"{KEYS} is one secret, so its keys cannot be told apart.\nFix: pulumi config rm {KEYS}")
    return list(cast("Mapping[str, object]", value))


def _run(target: Target, *arguments: str, stdin: str = "") -> None:
    """Runs ``pulumi config``. Keys are passed on standard input: arguments are visible to everyone on the machine."""
    executable = shutil.which("pulumi")
    if executable is None:
        raise SetUpFailed(
            "`pulumi` is not on PATH, and keys are encrypted with it.\nFix: https://www.pulumi.com/docs/install/"
        )
    command = [executable, "-C", str(target.root), "--non-interactive", "config", *arguments, "-s", target.stack]
    done = child_process.run(command, stdin=stdin, seconds=60)
    if done.returncode:
        raise Failed(
            f"`pulumi config {arguments[0]}` failed: {short(done.stderr, 300)}\n"
            f"Fix: create the stack first (`pulumi stack init {target.stack}`), and export PULUMI_CONFIG_PASSPHRASE "
            "if its secrets are encrypted with a passphrase"
        )
