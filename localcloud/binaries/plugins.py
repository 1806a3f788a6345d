"""Downloads official provider plugins, so that nobody with a network has to build them.

Where they are, in the order in which Pulumi tries them (pulumi/pulumi ``sdk/go/common/workspace/plugins.go``,
``fallbackSource`` and ``standardAssetName``), with the list of checksums of the same release (pulumi/pulumi-gcp
``.github/workflows/publish.yml``; pulumi/pulumi-kubernetes ``.goreleaser.yml``).
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import urlsplit

from llmd_common.problems import SetUpFailed
from localcloud.binaries import download, official
from localcloud.go_builds.wrapper import BuiltProgram, name_of_build

SOURCES = (
    "https://github.com/pulumi/pulumi-{plugin}/releases/download/v{version}",
    "https://get.pulumi.com/releases/plugins",
)
NOT_BUILT = "0" * 12
"""In the name of a download's folder, in place of the hash of what a program is built from."""


def path(program: BuiltProgram, cache: Path) -> Path:
    """The path of a downloaded plugin in the cache, whether it exists or not."""
    name = name_of_build(program.name, official.plugin_version(program), NOT_BUILT)
    return cache / "programs" / name / program.name


def present(program: BuiltProgram, cache: Path) -> Path | None:
    """The plugin that an earlier run downloaded. Raises ``BadInput``."""
    return file if official.replaces(program) and (file := path(program, cache)).exists() else None


def install(programs: Iterable[BuiltProgram], cache: Path, say: Callable[[str], None]) -> list[BuiltProgram]:
    """Downloads the official plugins among those programs; the rest has to be built. Raises ``BadInput``.

    A host that did not answer for one plugin is not asked for the next: each costs ``download.ANSWER_SECONDS``.
    """
    sources, rest, here = list[str](SOURCES), list[BuiltProgram](), download.machine()
    for program in programs:
        if not here or not official.replaces(program) or not _install(program, cache, say, sources, here):
            rest.append(program)
    return rest


def _install(
    program: BuiltProgram, cache: Path, say: Callable[[str], None], sources: list[str], here: tuple[str, str]
) -> bool:
    """Tries the sources, and removes those that have no such release, or do not answer."""
    version = official.plugin_version(program)
    label = f"the official {program.name} {version}"
    name = f"{program.name}-v{version}-{'-'.join(here)}.tar.gz"
    listed = f"pulumi-{program.plugin}_{version}_checksums.txt"
    for source in list(sources):
        archive = download.look_up(source.format(plugin=program.plugin, version=version), listed, name)
        if archive is None:
            sources.remove(source)
            continue
        say(f"downloading {label} from {urlsplit(source).hostname} ...")
        try:
            if _unpack(program, archive, cache):
                say(f"installed {label}, kept in {path(program, cache).parent}")
                return True
        except (SetUpFailed, OSError) as wrong:  # a wrong checksum, a full disk
            say(str(wrong))
    say(f"{label} could not be downloaded; building it from Go modules.")
    return False


def _unpack(program: BuiltProgram, archive: download.Archive, cache: Path) -> bool:
    """Puts the plugin into the cache at once, if it is complete. Raises ``SetUpFailed`` for a wrong checksum."""
    target = path(program, cache).parent
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="official-", dir=target.parent) as work:
        unpacked = Path(work, "unpacked")
        file = unpacked / program.name
        if not archive.unpack(unpacked) or not file.is_file() or not official.is_right_version(program, file):
            return False
        shutil.rmtree(target, ignore_errors=True)
        with contextlib.suppress(OSError):  # another process was quicker
            unpacked.rename(target)
    return path(program, cache).exists()
