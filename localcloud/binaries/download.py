"""Archives of official releases, each checked by its release's list of checksums before it is unpacked.

Archive and list come from one host: this detects a damaged or replaced archive, but not a compromised host.
"""

from __future__ import annotations

import hashlib
import platform
import tarfile
import tempfile
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

import httpx

from llmd_common.problems import SetUpFailed

ANSWER_SECONDS = 4.0
"""A host that does not send a release's list of checksums within this time counts as out of reach."""
SILENCE_SECONDS = 60.0
"""Time without a byte after which a download has failed."""
LONGEST_SECONDS = 600.0
"""Time after which a slow download is given up: by then a build would be over."""
LARGEST = 1024 * 1024 * 1024
"""Bytes of an archive. That of the engine 3.259.0 has about 90 MB."""

HASHES = {40: "SHA-1", 64: "SHA-256"}
"""Hash functions by the length of a checksum. Releases of Pulumi's bridged providers have SHA-1: `shasum` without
arguments (pulumi/ci-mgmt, ``publish.yml``)."""

SYSTEMS = {"Linux": "linux", "Darwin": "darwin"}
MACHINES = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def machine() -> tuple[str, str] | None:
    """Operating system and processor as Go names them; ``None`` if there are no releases for this machine."""
    system, processor = SYSTEMS.get(platform.system()), MACHINES.get(platform.machine())
    return (system, processor) if system and processor else None


@dataclass(frozen=True)
class Archive:
    """An archive at a host that has answered: its URL, and the checksum that the release's list ``listed`` has."""

    url: str
    listed: str
    checksum: str

    def unpack(self, into: Path) -> bool:
        """Downloads it, and unpacks it into the folder ``into``, which is made; ``False`` if that fails.

        Raises ``SetUpFailed`` for an archive with a wrong checksum, before it is unpacked. The caller adds the fix.
        """
        with tempfile.TemporaryDirectory(prefix=f"{into.name}-", dir=into.parent) as work:
            file, name = Path(work, "archive"), HASHES[len(self.checksum)]
            try:
                checksum = self._download(file, name)
            except (httpx.HTTPError, OSError, ValueError):
                return False
            if checksum != self.checksum:
                raise SetUpFailed(
                    f"{self.url} has the {name} {checksum}, but {self.listed} has {self.checksum}: it was not unpacked."
                )
            try:
                with tarfile.open(file) as opened:
                    opened.extractall(into, filter="data")
            except (tarfile.TarError, zlib.error, EOFError, OSError):
                return False
        return True

    def _download(self, file: Path, name: str) -> str:
        """Writes the archive to a file and returns its checksum. Raises ``ValueError`` if it is too large or slow."""
        end = time.monotonic() + LONGEST_SECONDS
        digest, size = hashlib.new(name.replace("-", ""), usedforsecurity=False), 0
        with (
            httpx.stream("GET", self.url, timeout=SILENCE_SECONDS, follow_redirects=True) as answer,
            file.open("wb") as written,
        ):
            answer.raise_for_status()
            for part in answer.iter_bytes():
                size += len(part)
                if size > LARGEST or time.monotonic() > end:
                    raise ValueError(f"{self.url} is larger than {LARGEST} bytes, or took {LONGEST_SECONDS:.0f} s")
                digest.update(part)
                written.write(part)
        return digest.hexdigest()


def look_up(folder: str, listed: str, name: str) -> Archive | None:
    """The archive ``name`` of a release; ``None`` if the host does not answer soon, or its list has no checksum of it.

    ``folder``: URL of archive and list. ``listed``: name of the list, whose lines have a checksum and a name.
    """
    try:
        answer = httpx.get(f"{folder}/{listed}", timeout=ANSWER_SECONDS, follow_redirects=True).raise_for_status()
    except (httpx.HTTPError, OSError):
        return None
    for line in answer.text.splitlines():
        fields = line.split()
        if len(fields) == 2 and fields[1].lstrip("*").removeprefix("./") == name and len(fields[0]) in HASHES:
            return Archive(f"{folder}/{name}", listed, fields[0].lower())
    return None
