"""The `pulumi` of a shell on the rehearsal or the laptop cloud.

Plain commands behave as usual, and the committed files are not changed.

It replaces itself by the real engine (``exec``), after removing credentials and checking the interlock. Commands that
read a stack's settings get ``--config-file`` with the copy, which receives the encryption salt in place of the
committed file. Previews and updates run the project's policy pack, as `make preview` and `make up` do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha1
from pathlib import Path
from typing import cast

from llmd_common.early_interrupt import ends_at_once

with ends_at_once():
    from llmd_common.problems import Problem
    from localcloud.common.environment import clean
    from localcloud.common.project import project
    from localcloud.common.workdir import Workdir
    from localcloud.product.settings import NAMESPACE, required_secrets
    from localcloud.workflow import arguments, backend, config, interlock, pack
    from localcloud.workflow.settings import settings_of


def selected(workdir: Workdir, environ: Mapping[str, str]) -> str | None:
    """The stack of commands without ``--stack``: PULUMI_STACK, otherwise the one selected by `pulumi stack select`."""
    if name := environ.get("PULUMI_STACK"):
        return name
    # pulumi/pulumi v3.259.0, pkg/workspace/workspace.go: <project>-<sha1 of the path of Pulumi.yaml>-workspace.json
    path = sha1(str((workdir.root / "Pulumi.yaml").resolve()).encode(), usedforsecurity=False).hexdigest()
    plain = sha1(str(workdir.root / "Pulumi.yaml").encode(), usedforsecurity=False).hexdigest()
    for digest in (plain, path):
        file = workdir.pulumi_home / "workspaces" / f"{project(workdir)}-{digest}-workspace.json"
        if file.exists():
            content = cast("Mapping[str, object]", json.loads(file.read_text()))
            stacks = cast("Mapping[str, str]", content.get("stacks") or {})
            return next(iter(stacks.values()), None) or cast("str | None", content.get("stack"))
    return None


def short(stack: str) -> str:
    """``organization/project/stack`` as ``stack``."""
    return stack.rpartition("/")[2]


def is_ours(workdir: Workdir, folder: str | None) -> bool:
    """Whether a command runs in the project of this rehearsal, or in a folder inside it."""
    where = Path(folder or ".").resolve()
    nearest = next((one for one in (where, *where.parents) if (one / "Pulumi.yaml").exists()), None)
    return nearest == workdir.root.resolve()


def prepared(workdir: Workdir, call: arguments.Call, environ: Mapping[str, str]) -> tuple[list[list[str]], list[str]]:
    """Commands to run first, and the command line that replaces this process. Updates the stack's copy if needed."""
    if not is_ours(workdir, call.folder) or call.has("-h", "--help"):
        return [], list(call.arguments)
    call = arguments.parse(call.adding(*pack.missing_flags(workdir, call)))
    if call.config_file:
        return [], list(call.arguments)
    stack = short(call.stack or selected(workdir, environ) or "")
    if call.command in arguments.TAKES_CONFIG_FILE and stack:
        return [], _with_copy(workdir, call, stack)
    if call.command == "config" and stack and (call.subcommand in ("", "get") or call.has("--secret")):
        return [], _with_copy(workdir, call, stack)
    if call.command == "config" and call.subcommand == "rm" and stack and _is_secret(workdir, stack, _word(call, 2)):
        return [], _with_copy(workdir, call, stack)
    if call.command == "stack" and call.subcommand in arguments.STACK_REMOVE:
        return [], call.adding("--preserve-config")
    if call.command == "stack" and call.subcommand in arguments.STACK_NEW and (name := call.stack or _word(call, 2)):
        config.sync(workdir, short(name))
        first = [*call.elsewhere(str(workdir.config)), "--no-select"]
        return [first], ["-C", str(workdir.root), "stack", "select", short(name)]
    if call.command == "stack" and call.subcommand == "select" and call.has("-c", "--create"):
        name = call.stack or _word(call, 2)
        plain = call.without("-c", "--create")
        if name and not _exists(workdir, short(name)):
            config.sync(workdir, short(name))
            return [["-C", str(workdir.config), "stack", "init", "--no-select", short(name)]], plain
        return [], plain
    return [], list(call.arguments)


def _with_copy(workdir: Workdir, call: arguments.Call, stack: str) -> list[str]:
    required = required_secrets(settings_of(workdir, stack)) if call.command != "config" else []
    config.sync(workdir, stack, required)
    return call.adding("--config-file", str(workdir.stack_copy(stack)))


def _word(call: arguments.Call, at: int) -> str | None:
    return call.positional[at] if len(call.positional) > at else None


def _is_secret(workdir: Workdir, stack: str, key: str | None) -> bool:
    """Whether the copy holds that secret: the committed file never does, so it can only be removed from there."""
    copy = workdir.stack_copy(stack)
    if key is None or not copy.exists():
        return False
    full = key if ":" in key else f"{NAMESPACE}:{key}"
    table = config.read(copy.read_text(encoding="utf-8"), str(copy)).get("config")
    return isinstance(table, dict) and config.is_secret(cast("dict[str, object]", table).get(full))


def _exists(workdir: Workdir, stack: str) -> bool:
    from localcloud.workflow import state

    return stack in state.names(workdir)


def main(engine: str, argv: Sequence[str]) -> int:  # noqa: RET503 - it ends by executing another program
    """Replaces this process by the engine; returns an exit status only if that fails."""
    workdir = Workdir.of()
    if not Path(engine).exists():
        print(f"The engine no longer exists at {engine}. Fix: `make up`, which sets it up again.", file=sys.stderr)
        return 3
    environment = clean(os.environ, workdir)
    if stack := os.environ.get("PULUMI_STACK"):
        environment["PULUMI_STACK"] = stack
    try:
        interlock.check(workdir)
        first, then = prepared(workdir, arguments.parse(argv), os.environ)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return problem.status
    for command in first:
        if status := subprocess.run([engine, *command], env=environment, check=False).returncode:
            return status
    try:
        command = backend.of(workdir).command_line([engine, *then])
    except Problem as problem:
        print(problem, file=sys.stderr)
        return problem.status
    if command[0] == engine:
        command = ["pulumi", *then]
        os.execve(engine, command, environment)  # noqa: S606 - no shell
    os.execve(command[0], command, environment)  # noqa: S606 - no shell


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
