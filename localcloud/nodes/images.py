"""The image table: the program that replaces each image (``images.toml``), and its files in the container."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from llmd_common.problems import BadInput
from localcloud.google_api.rules.artifactregistry import upstreams
from localcloud.nodes.runtime import Mount
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.faults import described

TABLE = Path(__file__).with_name("images.toml")
STAND_INS = Path(__file__).with_name("entrypoints")
PYTHON = "/opt/bin/python3"
PATH = "/opt/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
IF_BUILT = "if-built:"
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/etc/ssl", "/etc/ld.so.cache", "/nix")
"""Folders of this machine that programs need to run, on any distribution."""

HOSTS_FILES = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n",
    "/etc/group": "root:x:0:\nnobody:x:65534:\n",
    "/etc/nsswitch.conf": "hosts: files dns\n",
}


class NoImage(Exception):
    """The table has no program for that image; the text contains the fix."""


class ImageEntry(BaseModel):
    """One entry of the table; the fields are explained there."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    repository: str
    entrypoint: tuple[str, ...] = ()
    programs: dict[str, str] = {}
    arguments: tuple[str, ...] = ()
    tools: bool = False
    environment: dict[str, str] = {}
    model_server: bool = False

    def command(self, command: list[str], arguments: list[str]) -> list[str]:
        """The command line: Kubernetes' ``command`` replaces the image's entrypoint, ``args`` follow either."""
        own = command or list(self.entrypoint)
        runs_entrypoint = own[:1] == list(self.entrypoint[:1])
        return [*own[:1], *(self.arguments if runs_entrypoint else ()), *own[1:], *arguments]

    def variables(self) -> dict[str, str]:
        """The environment that the image sets."""
        return {"PATH": PATH, "HOME": "/root", **self.environment}


_ENTRIES = TypeAdapter(list[ImageEntry])


def repository_of(image: str) -> str:
    """An image reference without tag and digest: ``quay.io:443/a/b:v1@sha256:…`` gives ``quay.io:443/a/b``."""
    name = image.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    return head if colon and "/" not in tag else name


class ImageTable:
    """The entries of the user's file, then ours; the first match counts. An image of a remote repository in Artifact
    Registry counts as the image of its upstream.
    """

    def __init__(self, home: Path, program: Callable[[str], Path]) -> None:
        self._home = home
        self._own = home / "images.toml"
        self._program = program
        self._ours = _read(TABLE)
        self._google = CloudFile(home / "cloud" / "google.json")

    def find(self, image: str) -> ImageEntry:
        """The entry of an image; raises :class:`NoImage`. The user's file and Google's are read every time."""
        entries = [*(_read(self._own) if self._own.exists() else []), *self._ours]
        repository, tagged = repository_of(image), image.partition("@")[0]
        tag, repository = tagged.removeprefix(repository), self._upstream(repository)
        for entry in entries:
            patterns = entry.repository.split()
            if any(fnmatchcase(name, one) for one in patterns for name in (repository, repository + tag)):
                return entry
        raise NoImage(
            f'The laptop cloud has no program for image "{image}". '
            f"Add an entry for {repository} to {self._own} (form: {TABLE.relative_to(TABLE.parents[2])})."
        )

    def _upstream(self, repository: str) -> str:
        """The repository from which Artifact Registry fetches that one; otherwise unchanged."""
        if "-docker.pkg.dev/" not in repository:
            return repository
        for there, home in upstreams(self._google.read()).items():
            if repository.startswith(f"{there}/"):
                return f"{home}{repository.removeprefix(there)}"
        return repository

    def sees(self, image: ImageEntry) -> tuple[list[Mount], dict[str, str]]:
        """Mounts from this machine for a container of that image, and links (path to target) in its file system.

        Raises :class:`NoImage` if the program does not exist.
        """
        mounts: list[Mount] = []
        links: dict[str, str] = {}
        if image.tools:
            for folder in map(Path, SYSTEM_FOLDERS):
                if folder.is_symlink():
                    links[str(folder)] = str(folder.readlink())
                elif folder.exists():
                    mounts.append(Mount(str(folder), str(folder), True))
            if sys.base_prefix != "/usr":
                mounts.append(Mount(sys.base_prefix, sys.base_prefix, True))
            links[PYTHON] = str(Path(sys.executable).resolve())
        for target, name in image.programs.items():
            if (source := self._optional(name)) is not None:
                mounts.append(Mount(str(source), target, True))
        return mounts, links

    def _optional(self, name: str) -> Path | None:
        """The source, or ``None`` for a program that only some stacks need and that is not built."""
        if not name.startswith(IF_BUILT):
            return self._source(name)
        try:
            return self._source(name.removeprefix(IF_BUILT))
        except NoImage:
            return None

    def _source(self, name: str) -> Path:
        kind, colon, rest = name.partition(":")
        if not colon:
            try:
                return self._program(name)
            except Exception as error:
                raise NoImage(f"Program {name} is missing: {error}") from None
        sources = {"stand-in": STAND_INS / f"{rest}.py", "home": self._home / rest}
        source = sources.get(kind, Path(rest))
        if not source.exists():
            raise NoImage(f'"{name}" is missing: {source} does not exist.')
        if kind == "stand-in" and not os.access(source, os.X_OK):  # installed from a wheel, which drops permissions
            source.chmod(source.stat().st_mode | 0o111)
        return source


def _read(file: Path) -> list[ImageEntry]:
    """The entries of a table. Raises ``BadInput`` for a file that cannot be used."""
    try:
        return _ENTRIES.validate_python(tomllib.loads(file.read_text()).get("image", []))
    except ValueError as error:
        said = described(error) if isinstance(error, ValidationError) else error
        keys = ", ".join(sorted(ImageEntry.model_fields))
        raise BadInput(f"{file}: {said}. An entry requires `repository` and may have {keys}.") from None
