"""The Pulumi project of a folder."""

from __future__ import annotations

import yaml

from llmd_common.problems import BadInput
from localcloud.common.workdir import Workdir


def project(workdir: Workdir) -> str:
    """The project's name from Pulumi.yaml. Raises ``BadInput`` if that file cannot be read."""
    file = workdir.root / "Pulumi.yaml"
    try:
        content: object = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        fix = "git restore Pulumi.yaml, or run the command in the folder of the program"
        raise BadInput(f"{file} cannot be read: {error}\nFix: {fix}") from None
    name = content.get("name") if isinstance(content, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    if not isinstance(name, str):
        raise BadInput(f"{file} has no `name:`.\nFix: git restore Pulumi.yaml")
    return name
