"""The official engine: the archive of the release, checked by the release's list of checksums.

Names: ``pulumi-vVERSION-linux-x64.tar.gz`` holds a folder ``pulumi``, ``pulumi-VERSION-checksums.txt`` has lines of a
SHA-256 and a name (https://get.pulumi.com/install.sh; https://www.pulumi.com/docs/install/versions/).
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from llmd_common.problems import SetUpFailed
from localcloud.binaries import download
from localcloud.product import engine_cli
from localcloud.pulumi_cli.discover import Engine, check_engine

RELEASES = "https://get.pulumi.com/releases/sdk"


def folder(cache: Path) -> Path:
    """The folder of the official engine in the cache."""
    return cache / f"official-v{engine_cli()}"


def present(cache: Path) -> Engine | None:
    """The engine that an earlier run installed."""
    checked = check_engine(folder(cache) / "bin" / "pulumi")
    return Engine(checked.pulumi, checked.version, "official release") if isinstance(checked, Engine) else None


def look_up() -> download.Archive | None:
    """The pinned release for this machine; ``None`` if there is none, or if its host does not answer soon."""
    if not (here := download.machine()):
        return None
    system, processor = here
    name = f"pulumi-v{engine_cli()}-{system}-{processor.replace('amd64', 'x64')}.tar.gz"
    return download.look_up(RELEASES, f"pulumi-{engine_cli()}-checksums.txt", name)


def install(archive: download.Archive, cache: Path) -> Engine | None:
    """Installs the release into the cache; returns ``None``, and leaves nothing behind, if that fails.

    Raises ``SetUpFailed`` for an archive with a wrong checksum, before it is unpacked.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="official-", dir=cache) as work:
        unpacked = Path(work, "unpacked")
        try:
            if not archive.unpack(unpacked):
                return None
        except SetUpFailed as wrong:
            raise SetUpFailed(
                f"{wrong}\nFix: run the command again; if that does not help, put pulumi {engine_cli()} first on PATH, "
                "and report it to Pulumi"
            ) from None
        if not isinstance(check_engine(unpacked / "pulumi" / "pulumi"), Engine):
            return None
        shutil.rmtree(folder(cache), ignore_errors=True)
        folder(cache).mkdir()
        (unpacked / "pulumi").rename(folder(cache) / "bin")
    return present(cache)


def main(cache: Path) -> str:
    """Installs the engine into the cache and returns the folder for PATH: for workflows. Raises ``SetUpFailed``."""
    archive = look_up()
    engine = install(archive, cache) if archive else None
    if engine is None:
        raise SetUpFailed(f"{RELEASES} cannot be reached, or has no release for this machine.\nFix: run the job again.")
    return str(engine.pulumi.parent)


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{main(Path(sys.argv[1]))}\n")
    except SetUpFailed as failed:
        sys.exit(str(failed))
