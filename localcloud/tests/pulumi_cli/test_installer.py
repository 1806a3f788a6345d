"""The official engine is installed only when its archive is the one of the release's list of checksums."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import httpx
import pytest

from llmd_common.problems import SetUpFailed
from llmd_gke.catalog.versions import engine_cli
from localcloud.pulumi_cli import discover, installer

NAME = f"pulumi-v{engine_cli()}-linux-x64.tar.gz"


def packed(*extra: tarfile.TarInfo) -> bytes:
    """A release's archive: a folder `pulumi` with the engine and the language host."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name in ("pulumi", discover.HOST):
            content = f"#!/bin/sh\necho v{engine_cli()}\n".encode()
            entry = tarfile.TarInfo(f"pulumi/{name}")
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content))
        for entry in extra:
            archive.addfile(entry)
    return made.getvalue()


class Releases:
    """The host of the releases."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.archive = packed()
        self.list: str | None = f"{'0' * 64}  other.tar.gz\n{hashlib.sha256(self.archive).hexdigest()}  {NAME}\n"
        transport = httpx.MockTransport(self.answer)
        monkeypatch.setattr(installer.platform, "system", lambda: "Linux")
        monkeypatch.setattr(installer.platform, "machine", lambda: "x86_64")
        client = httpx.Client(transport=transport)
        monkeypatch.setattr(installer.httpx, "get", client.get)
        monkeypatch.setattr(installer.httpx, "head", client.head)
        monkeypatch.setattr(installer.httpx, "stream", client.stream)

    def answer(self, request: httpx.Request) -> httpx.Response:
        path = str(request.url).removeprefix(f"{installer.RELEASES}/")
        if path == f"pulumi-{engine_cli()}-checksums.txt" and self.list is not None:
            return httpx.Response(200, text=self.list)
        return httpx.Response(200, content=self.archive) if path == NAME else httpx.Response(404)


@pytest.fixture
def releases(monkeypatch: pytest.MonkeyPatch) -> Releases:
    return Releases(monkeypatch)


def test_an_archive_of_the_list_is_installed_and_found_again(releases: Releases, tmp_path: Path) -> None:
    assert installer.reachable()
    engine = installer.install(tmp_path)
    assert engine is not None
    assert engine.version == f"v{engine_cli()}"
    assert installer.present(tmp_path) == engine
    assert [path.name for path in tmp_path.iterdir()] == [f"official-v{engine_cli()}"]


def test_another_archive_is_refused_and_nothing_of_it_is_unpacked(releases: Releases, tmp_path: Path) -> None:
    releases.archive = packed(tarfile.TarInfo("pulumi/more"))
    with pytest.raises(SetUpFailed, match="it was not unpacked") as caught:
        installer.install(tmp_path)
    assert f"put pulumi {engine_cli()} first on PATH" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("listed", [None, "", f"{'0' * 64}  other.tar.gz\n", "<html>"])
def test_without_a_checksum_nothing_is_installed(releases: Releases, tmp_path: Path, listed: str | None) -> None:
    releases.list = listed
    assert installer.install(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_an_archive_that_writes_elsewhere_is_left_aside(releases: Releases, tmp_path: Path) -> None:
    releases.archive = packed(tarfile.TarInfo("../outside"))
    releases.list = f"{hashlib.sha256(releases.archive).hexdigest()}  {NAME}\n"
    assert installer.install(tmp_path / "cache") is None
    assert not (tmp_path / "outside").exists()


def test_a_machine_without_an_archive_builds(releases: Releases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer.platform, "machine", lambda: "riscv64")
    assert not installer.reachable()
