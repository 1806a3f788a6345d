"""The folders of a local cloud: the project, the cloud's own folder, the cache."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from llmd_common import bootstrap
from llmd_common.problems import BadInput

PACKAGES = Path(__file__).resolve().parents[2]
"""The folder that contains this package: a clone, or the installed packages of an environment."""
INSTALLED = not (PACKAGES / "Makefile").exists()


def cache_folder() -> Path:
    """The engine's cache: ``$LLMD_GKE_CACHE``, otherwise ``llmd-gke`` in the user's cache folder.

    Its programs are run, so nobody else may write there. Raises ``BadInput`` otherwise.
    """
    folder = bootstrap.cache_folder()
    check_owner(folder, "programs in it would be run", "set LLMD_GKE_CACHE to a folder of your own")
    return folder


def check_owner(folder: Path, consequence: str, fix: str) -> None:
    """Raises ``BadInput`` for a folder that another user owns, or that every user may write to. It need not exist.

    A group that may write is the user's own on many systems (umask 002): the permission is taken away.
    """
    try:
        seen = folder.stat()
    except OSError:
        return  # the code that creates or reads it reports the error
    problem = ""
    if seen.st_uid not in (os.geteuid(), 0):
        problem = f"belongs to another user (uid {seen.st_uid})"
    elif seen.st_mode & stat.S_IWOTH:
        problem = "is writable by every user"
    elif seen.st_mode & stat.S_IWGRP and seen.st_gid != os.getegid():
        problem = f"is writable by the group {seen.st_gid}"
    elif seen.st_mode & stat.S_IWGRP and seen.st_uid == os.geteuid():
        folder.chmod(stat.S_IMODE(seen.st_mode) & ~stat.S_IWGRP)
    if problem:
        raise BadInput(f"{folder} {problem}: {consequence}.\nFix: {fix}.")


CloudKind = Literal["rehearsal", "laptop"]
"""Both have an emulator of Google's APIs. The rehearsal has a stand-in for Kubernetes, the laptop cloud Kubernetes."""


@dataclass(frozen=True)
class CloudTraits:
    """The properties of a kind of cloud that determine folders, environment and messages.

    ``label``: its name in messages. ``removed``: everything that `make down` has removed, for its last message.
    ``make``: the argument that selects it on a ``make`` command line. ``namespaced``: Kubernetes' own control plane
    runs, in Linux namespaces without a network. ``disposable``: `make down` removes everything even if a destroy
    failed. ``providers``: provider name to the real program; a stand-in runs for the others.
    """

    label: str
    removed: str
    make: str = ""
    namespaced: bool = False
    disposable: bool = False
    providers: Mapping[str, str] = field(default_factory=dict[str, str])


TRAITS: dict[CloudKind, CloudTraits] = {
    "rehearsal": CloudTraits(
        "rehearsal", "no stack, no object in a cloud, no process", providers={"gcp": "pulumi-resource-gcp"}
    ),
    "laptop": CloudTraits(
        "laptop cloud",
        "no stack, no process, no cluster",
        make="CLOUD=laptop",
        namespaced=True,
        disposable=True,
        providers={"gcp": "pulumi-resource-gcp", "kubernetes": "pulumi-resource-kubernetes"},
    ),
}

CLOUD = "LLMD_GKE_CLOUD"
KINDS: tuple[CloudKind, ...] = get_args(CloudKind)


def kind_of_environment(environ: Mapping[str, str] = os.environ) -> CloudKind:
    """``$LLMD_GKE_CLOUD`` if it names a local cloud; otherwise the rehearsal."""
    kind: CloudKind | None = next((one for one in KINDS if one == environ.get(CLOUD)), None)
    return kind or KINDS[0]


class Workdir:
    """The folders of one rehearsal or laptop cloud.

    ``root`` holds Pulumi.yaml and the stack files; ``home`` is ``$LLMD_GKE_HOME``, by default ``.rehearsal`` or
    ``.laptop`` there.
    """

    def __init__(self, root: Path, home: Path, kind: CloudKind = "rehearsal") -> None:
        self.root, self.home = root, home
        self.kind: CloudKind = kind
        self.pulumi_home = home / "home"
        """The engine's own PULUMI_HOME: credentials, selected stack, plugins."""
        self.plugins = self.pulumi_home / "plugins"
        """The folder in which the engine finds providers; it contains only what `home.launchers` lists."""
        self.state = home / "state"
        """The file backend."""
        self.cloud = home / "cloud"
        """The emulator's and the stand-in's resources, and the record of calls."""
        self.config = home / "config"
        """Copies of the stack files, which receive the encryption salt in place of the committed ones."""
        self.wrapper = home / "bin"
        """The folder with the `pulumi` that plain commands find first."""
        self.passphrase = home / "passphrase"
        """A random passphrase, readable by its owner only."""
        self.empty_dir = home / "nothing"
        """An empty folder, for tools that look for credentials in one."""
        self.env_script = home / "env.sh"
        """The file that a shell can source."""
        self.run_lock = home / "run.lock"
        """The file that is locked while a `make` command works here."""
        self.charts = home / "charts"
        """The charts that the Platform component installs on the laptop cloud."""
        self.traits = TRAITS[kind]
        """The properties of its kind of cloud."""
        self.label = self.traits.label
        """The cloud's name in messages."""
        self.namespaced = self.traits.namespaced
        """Whether it runs in Linux namespaces of its own, without a network."""

    @classmethod
    def of(cls, root: Path | None = None, kind: CloudKind | None = None) -> Workdir:
        """The cloud of a project folder; default: ``$LLMD_GKE_ROOT``, otherwise the clone that has this package.

        An installed package serves the project of the current folder.

        ``$LLMD_GKE_HOME`` is used unless ``$LLMD_GKE_CLOUD`` is the other kind, as in a shell that sourced that cloud's
        ``env.sh``.
        """
        near = Path() if INSTALLED else PACKAGES
        chosen = (root or Path(os.environ.get("LLMD_GKE_ROOT") or near)).absolute()
        wanted = kind or kind_of_environment()
        given = os.environ.get("LLMD_GKE_HOME") if os.environ.get(CLOUD, wanted) == wanted else None
        return cls(chosen, Path(given or chosen / f".{wanted}").absolute(), wanted)

    def make(self, target: str, stack: str | None = None) -> str:
        """The command that a message recommends: `make` in a clone, `localcloud` where that is installed."""
        if INSTALLED:
            cloud = ["--cloud", self.kind] if self.traits.make else []
            return " ".join(["localcloud", *cloud, target, *(["--stack", stack] if stack and stack != "local" else [])])
        command = ["make", target]
        command += [f"STACK={stack}"] if stack not in (None, "local") else []
        command += [selection] if (selection := self.traits.make) else []
        return " ".join(command)

    def stack_file(self, stack: str) -> Path:
        """The committed settings of a stack."""
        return self.root / f"Pulumi.{stack}.yaml"

    def stack_copy(self, stack: str) -> Path:
        """The copy of them that the engine works with."""
        return self.config / f"Pulumi.{stack}.yaml"
