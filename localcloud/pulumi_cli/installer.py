"""The official engine: the archive of the release, checked by the release's list of checksums.

Both come from one host: this detects a damaged or replaced archive, but not a compromised host.

Names: ``pulumi-vVERSION-linux-x64.tar.gz`` holds a folder ``pulumi``, ``pulumi-VERSION-checksums.txt`` has lines of a
SHA-256 and a name (https://get.pulumi.com/install.sh; https://www.pulumi.com/docs/install/versions/).
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import tarfile
import tempfile
from pathlib import Path

import httpx

from llmd_common.problems import SetUpFailed
from localcloud.product import engine_cli
from localcloud.pulumi_cli.discover import Engine, check_engine

RELEASES = "https://get.pulumi.com/releases/sdk"

ANSWER_SECONDS = 4.0
SILENCE_SECONDS = 60.0
LARGEST = 1024 * 1024 * 1024
"""Bytes of an archive. That of 3.259.0 has about 90 MB."""

SYSTEMS = {"Linux": "linux", "Darwin": "darwin"}
MACHINES = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def folder(cache: Path) -> Path:
    """The folder of the official engine in the cache."""
    return cache / f"official-v{engine_cli()}"


def present(cache: Path) -> Engine | None:
    """The engine that an earlier run installed."""
    checked = check_engine(folder(cache) / "bin" / "pulumi")
    return Engine(checked.pulumi, checked.version, "official release") if isinstance(checked, Engine) else None


def archive() -> str | None:
    """The file name of the archive for this machine; ``None`` if there is none."""
    system, machine = SYSTEMS.get(platform.system()), MACHINES.get(platform.machine())
    return f"pulumi-v{engine_cli()}-{system}-{machine}.tar.gz" if system and machine else None


def checksums() -> str:
    """The name of the release's list of checksums."""
    return f"pulumi-{engine_cli()}-checksums.txt"


def reachable() -> bool:
    """Whether the releases' host answers within a short time limit."""
    if archive() is None:
        return False
    try:
        answer = httpx.head(f"{RELEASES}/{checksums()}", timeout=ANSWER_SECONDS, follow_redirects=True)
    except (httpx.HTTPError, OSError):
        return False
    return answer.is_success


def install(cache: Path) -> Engine | None:
    """Installs the pinned version into the cache; returns ``None``, and leaves nothing behind, if that fails.

    Raises ``SetUpFailed`` for an archive with a wrong checksum, before it is unpacked.
    """
    name = archive()
    if name is None:
        return None
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="official-", dir=cache) as work:
        file, unpacked = Path(work, name), Path(work, "unpacked")
        try:
            expected = _expected(name)
            checksum = _download(name, file)
        except (httpx.HTTPError, OSError, ValueError):
            return None
        if checksum != expected:
            raise SetUpFailed(
                f"{RELEASES}/{name} has the SHA-256 {checksum}, but {checksums()} has {expected}: it was not "
                "unpacked.\n"
                f"Fix: run the command again; if that does not help, put pulumi {engine_cli()} first on PATH, and "
                "report it to Pulumi"
            )
        try:
            with tarfile.open(file) as opened:
                opened.extractall(unpacked, filter="data")
        except (tarfile.TarError, OSError):
            return None
        if not isinstance(check_engine(unpacked / "pulumi" / "pulumi"), Engine):
            return None
        shutil.rmtree(folder(cache), ignore_errors=True)
        folder(cache).mkdir()
        (unpacked / "pulumi").rename(folder(cache) / "bin")
    return present(cache)


def _expected(name: str) -> str:
    """The checksum that the release's list has for an archive. Raises ``ValueError`` if it has none."""
    answer = httpx.get(f"{RELEASES}/{checksums()}", timeout=SILENCE_SECONDS, follow_redirects=True).raise_for_status()
    listed = {
        fields[1].lstrip("*"): fields[0].lower()
        for line in answer.text.splitlines()
        if len(fields := line.split()) == 2
    }
    if name not in listed:
        raise ValueError(f"{checksums()} does not list {name}")
    return listed[name]


def _download(name: str, file: Path) -> str:
    """Writes an archive to a file and returns its SHA-256. Raises ``ValueError`` for one that is too large."""
    digest, size = hashlib.sha256(), 0
    with (
        httpx.stream("GET", f"{RELEASES}/{name}", timeout=SILENCE_SECONDS, follow_redirects=True) as answer,
        file.open("wb") as written,
    ):
        answer.raise_for_status()
        for part in answer.iter_bytes():
            size += len(part)
            if size > LARGEST:
                raise ValueError(f"{name} is larger than {LARGEST} bytes")
            digest.update(part)
            written.write(part)
    return digest.hexdigest()
