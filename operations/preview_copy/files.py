"""The files of a copy: a file backend, a stack file, and the engine's variables and exclusions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import yaml

from llmd_gke.settings import load_stack, required_secrets
from localcloud.workflow import config
from operations.exits import BadInput
from operations.preview_copy.state import PASSPHRASE, SALT, Copy, checkpoint, without_secrets

LARGEST = 256 * 1024 * 1024
"""Maximum size of an exported state in bytes. One of ours has about 0.5 MB."""


def write_copy(root: Path, stack: str, state: Path, into: Path) -> Copy:
    """Writes the copy of a stack of the project folder ``root`` into the new folder ``into``.

    Raises ``BadInput`` for an invalid state or invalid settings, and for a folder that already exists.
    """
    config.check_name(stack)
    copy = without_secrets(_read(state), config.DUMMY)
    settings = _settings(root, stack)
    project = str(_mapping(root / "Pulumi.yaml").get("name"))
    try:
        into.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise BadInput(
            f"The folder {into} cannot be created: {error.strerror}.\nFix: set a new folder with --into"
        ) from None
    backend = into.absolute() / ".pulumi"
    stacks = backend / "stacks" / project
    stacks.mkdir(parents=True)
    (backend / "meta.yaml").write_text("version: 1\n", encoding="utf-8")
    (stacks / f"{stack}.json").write_text(json.dumps(checkpoint(stack, project, copy)), encoding="utf-8")
    (into / f"Pulumi.{stack}.yaml").write_text(
        yaml.safe_dump(settings, sort_keys=False, allow_unicode=True), encoding="utf-8"
    )
    (into / "environment").write_text(
        f"PULUMI_BACKEND_URL=file://{into.absolute()}\nPULUMI_CONFIG_PASSPHRASE={PASSPHRASE}\n", encoding="utf-8"
    )
    (into / "exclude").write_text("".join(f"{urn}\n" for urn in copy.incomparable), encoding="utf-8")
    return copy


def _settings(root: Path, stack: str) -> dict[str, object]:
    """The stack file for the engine: every secret is a dummy, encrypted with the copy's own salt."""
    required = required_secrets(load_stack(root, stack).settings)
    return {**config.merged(_mapping(root / f"Pulumi.{stack}.yaml"), {}, required), config.SALT: SALT}


def _mapping(file: Path) -> Mapping[str, object]:
    try:
        return config.read(file.read_text(encoding="utf-8"), file.name)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read: {error}\nFix: run the command in a clone of the project") from None


def _read(state: Path) -> object:
    try:
        if state.stat().st_size > LARGEST:
            raise BadInput(f"{state} is larger than {LARGEST} bytes.\nFix: use the output of `pulumi stack export`")
        return json.loads(state.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(
            f"{state} is not a state: {error}\nFix: pulumi stack export --stack STACK --file {state}"
        ) from None
