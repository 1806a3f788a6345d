"""The official engine is installed only when its archive is the one of the release's list of checksums."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llmd_common.problems import SetUpFailed
from llmd_gke.catalog.versions import engine_cli
from localcloud.binaries import download
from localcloud.pulumi_cli import discover, installer
from localcloud.tests.binaries import releases
from localcloud.tests.binaries.releases import Releases, packed

NAME, LIST = f"pulumi-v{engine_cli()}-linux-x64.tar.gz", f"pulumi-{engine_cli()}-checksums.txt"
SAYS_VERSION = f"echo v{engine_cli()}"
ENGINE = {"pulumi/pulumi": SAYS_VERSION, f"pulumi/{discover.HOST}": ""}


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Releases]:
    """The host of the releases, with the one for this machine."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(download.platform, "system", lambda: "Linux")
    monkeypatch.setattr(download.platform, "machine", lambda: "x86_64")
    with releases.serving() as running:
        monkeypatch.setattr(installer, "RELEASES", f"{running.url}/sdk")
        running.publish("/sdk", LIST, NAME, packed(ENGINE))
        yield running


def install(cache: Path) -> discover.Engine | None:
    archive = installer.look_up()
    assert archive is not None
    return installer.install(archive, cache)


@pytest.mark.usefixtures("host")
def test_an_archive_of_the_list_is_installed_and_found_again(tmp_path: Path) -> None:
    engine = install(tmp_path)
    assert engine is not None
    assert engine.version == f"v{engine_cli()}"
    assert installer.present(tmp_path) == engine
    assert [path.name for path in tmp_path.iterdir()] == [f"official-v{engine_cli()}"]
    assert installer.main(tmp_path) == str(engine.pulumi.parent), "a workflow puts it on PATH"


def test_another_archive_is_refused_and_nothing_of_it_is_unpacked(host: Releases, tmp_path: Path) -> None:
    host.files[f"/sdk/{NAME}"] = packed({**ENGINE, "pulumi/more": ""})
    with pytest.raises(SetUpFailed, match="it was not unpacked") as caught:
        install(tmp_path)
    assert f"put pulumi {engine_cli()} first on PATH" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_machine_without_an_archive_builds(host: Releases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del host.files[f"/sdk/{LIST}"]
    assert installer.look_up() is None
    with pytest.raises(SetUpFailed, match="cannot be reached"):
        installer.main(tmp_path)
    monkeypatch.setattr(download.platform, "machine", lambda: "riscv64")
    assert installer.look_up() is None
