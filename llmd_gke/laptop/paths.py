"""Where things lie: the clone, the rehearsal's folder, the cache."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]
"""The clone that this package belongs to."""


def cache_folder() -> Path:
    """The engine's cache: ``$LLMD_GKE_CACHE``, else ``llmd-gke`` in the user's cache folder."""
    if given := os.environ.get("LLMD_GKE_CACHE"):
        return Path(given).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "llmd-gke"


@dataclass(frozen=True)
class Places:
    """The folders of one rehearsal.

    ``root`` holds Pulumi.yaml and the stack files; ``home`` is ``$LLMD_GKE_HOME``, by default ``.rehearsal`` there.
    """

    root: Path
    home: Path

    @classmethod
    def of(cls, root: Path | None = None) -> Places:
        """The rehearsal of that project folder; default: ``$LLMD_GKE_ROOT``, else this clone."""
        chosen = (root or Path(os.environ.get("LLMD_GKE_ROOT") or CLONE)).absolute()
        return cls(chosen, Path(os.environ.get("LLMD_GKE_HOME") or chosen / ".rehearsal").absolute())

    @property
    def pulumi_home(self) -> Path:
        """The engine's own PULUMI_HOME: credentials, selected stack, plugins."""
        return self.home / "home"

    @property
    def plugins(self) -> Path:
        """Where the engine looks for providers; only the stand-ins may lie here."""
        return self.pulumi_home / "plugins"

    @property
    def state(self) -> Path:
        """The file backend."""
        return self.home / "state"

    @property
    def cloud(self) -> Path:
        """Where the stand-ins keep what they made, and the record of calls."""
        return self.home / "cloud"

    @property
    def config(self) -> Path:
        """Copies of the stack files, which receive the encryption salt in place of the committed ones."""
        return self.home / "config"

    @property
    def wrapper(self) -> Path:
        """The folder with the `pulumi` that plain commands find first."""
        return self.home / "bin"

    @property
    def passphrase(self) -> Path:
        """A random passphrase, readable by its owner only."""
        return self.home / "passphrase"

    @property
    def nothing(self) -> Path:
        """An empty folder, for tools that look for credentials in one."""
        return self.home / "nothing"

    @property
    def env_script(self) -> Path:
        """The file that a shell can source."""
        return self.home / "env.sh"

    @property
    def run_lock(self) -> Path:
        """Held while a `make` command works on this rehearsal."""
        return self.home / "run.lock"

    def stack_file(self, stack: str) -> Path:
        """The committed settings of a stack."""
        return self.root / f"Pulumi.{stack}.yaml"

    def stack_copy(self, stack: str) -> Path:
        """The copy of them that the engine works with."""
        return self.config / f"Pulumi.{stack}.yaml"
