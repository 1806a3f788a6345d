"""The stack that a command is about, and the cloud it lives in."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from llmd_gke.repository import CLONE
from localcloud.common.workdir import CloudKind, Workdir
from operations.options import Cloud

if TYPE_CHECKING:  # the settings take the longest to import: only commands that read them should wait for that
    from llmd_gke.settings import StackSettings
    from llmd_gke.settings.parse import Checked

KINDS: dict[Cloud, CloudKind] = {Cloud.REHEARSAL: "rehearsal", Cloud.LAPTOP: "laptop"}
"""The local clouds, by their names in :mod:`localcloud`."""


def root_folder() -> Path:
    """The folder with Pulumi.yaml and the stack files: ``$LLMD_GKE_ROOT``, otherwise this clone."""
    return Path(os.environ.get("LLMD_GKE_ROOT") or CLONE).absolute()


@dataclass(frozen=True)
class Target:
    """One stack in one cloud. ``root`` is the folder with Pulumi.yaml and the stack files."""

    stack: str
    cloud: Cloud
    root: Path

    @classmethod
    def choose(cls, stack: str, cloud: Cloud | None = None, root: Path | None = None) -> Target:
        """The stack of that name in ``cloud``; without ``cloud``, the project in its stack file determines it.

        ``root`` is by default :func:`root_folder`. Raises ``BadInput`` if there is no such file.
        """
        from llmd_gke.settings.load import read_config
        from llmd_gke.settings.validation import REHEARSAL_PROJECT

        folder = root or root_folder()
        project = read_config(folder, stack).get("gcp:project")
        return cls(stack, cloud or (Cloud.REHEARSAL if project == REHEARSAL_PROJECT else Cloud.GOOGLE), folder)

    @cached_property
    def checked(self) -> Checked:
        """The stack's settings without errors, and the warnings that remain. Raises ``BadInput`` with every problem."""
        from llmd_gke.settings.load import load_stack
        from llmd_gke.settings.validation import CLOUD_VARIABLE

        if self.cloud is not Cloud.GOOGLE:
            if os.environ.get(CLOUD_VARIABLE, self.cloud.value) != self.cloud.value:
                os.environ.pop("LLMD_GKE_HOME", None)  # the variable is the other cloud's home, as in its shell
            os.environ[CLOUD_VARIABLE] = self.cloud.value  # the settings reject a rehearsal-only stack elsewhere
        return load_stack(self.root, self.stack)

    def check_secrets(self) -> None:
        """Raises ``BadInput`` for a secret that Google Cloud needs and the stack file lacks; stand-ins need none."""
        from llmd_gke.settings.load import load_stack

        if self.cloud is Cloud.GOOGLE:
            load_stack(self.root, self.stack, need_secrets=True)

    @property
    def settings(self) -> StackSettings:
        """The stack's settings. Raises ``BadInput`` with every problem."""
        return self.checked.settings

    @property
    def workdir(self) -> Workdir:
        """The folders of a local cloud. Raises ``LookupError`` for Google Cloud, which has none."""
        if self.cloud is Cloud.GOOGLE:
            raise LookupError("Google Cloud has no folders here")
        return Workdir.of(self.root, KINDS[self.cloud])

    @property
    def up(self) -> str:
        """The command that deploys the stack there, for messages."""
        if self.cloud is Cloud.GOOGLE:
            return f"pulumi up --stack {self.stack} --policy-pack policies"
        laptop = " CLOUD=laptop" if self.cloud is Cloud.LAPTOP else ""
        return f"make up STACK={self.stack}{laptop}"
