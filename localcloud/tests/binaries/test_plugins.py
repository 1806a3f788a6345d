"""Official provider plugins: installed ones, downloads, and what a machine is told that can have neither."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from rich.console import Console

from llmd_common.problems import BadInput, SetUpFailed
from localcloud import binaries
from localcloud.binaries import download, official, plugins, resolve
from localcloud.binaries.table import BY_NAME, GOOGLE_PROVIDER, PROVIDER_NAME
from localcloud.go_builds.wrapper import BuiltProgram
from localcloud.tests.binaries import releases
from localcloud.tests.binaries.releases import Releases, packed
from localcloud.tests.binaries.releases import program as put

BOTH = pytest.mark.parametrize(
    "program", [BY_NAME[PROVIDER_NAME], BY_NAME[GOOGLE_PROVIDER]], ids=lambda one: one.plugin
)
GOOGLE = BY_NAME[GOOGLE_PROVIDER]
VERSION = metadata.version("pulumi-gcp")
NAME, LIST = f"{GOOGLE_PROVIDER}-v{VERSION}-linux-amd64.tar.gz", f"pulumi-gcp_{VERSION}_checksums.txt"
GITHUB, PULUMI = f"/pulumi-gcp/v{VERSION}", "/releases/plugins"
RIGHT = packed({"README.md": "", f"./{GOOGLE_PROVIDER}": f"echo {VERSION}"})


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any program, that neither Pulumi's hosts nor a proxy is known to."""
    for name in ("PULUMI_HOME", official.VARIABLE, "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("LLMD_GKE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(plugins, "SOURCES", ())
    monkeypatch.setattr(download.platform, "system", lambda: "Linux")
    monkeypatch.setattr(download.platform, "machine", lambda: "x86_64")
    return tmp_path / "cache"


def in_cache(home: Path, name: str, version: str = "") -> Path:
    plugin = BY_NAME[name].plugin
    return put(home / "plugins" / f"resource-{plugin}-v{version or metadata.version(f'pulumi-{plugin}')}" / name)


@BOTH
def test_the_users_own_plugin_of_the_sdks_version_is_taken_from_either_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: BuiltProgram
) -> None:
    in_cache(tmp_path / "home/.pulumi", program.name, "4.1.0")
    assert official.find(program) is None
    usual, other = in_cache(tmp_path / "home/.pulumi", program.name), in_cache(tmp_path / "elsewhere", program.name)
    assert binaries.path(program.name) == usual
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "elsewhere"))
    assert binaries.path(program.name) == other
    other.parent.with_name(f"{other.parent.name}.partial").touch()  # an installation that did not end
    assert binaries.path(program.name) == usual


@BOTH
def test_what_a_local_cloud_put_into_its_own_plugin_folder_is_no_official_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: BuiltProgram
) -> None:
    """As in a shell that has sourced the rehearsal's env.sh: `make up CLOUD=laptop` took its stand-in."""
    in_cache(tmp_path / ".laptop/home", program.name)
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / ".laptop/home"))
    monkeypatch.setenv("LLMD_GKE_HOME", str(tmp_path / ".laptop"))
    assert official.find(program) is None
    monkeypatch.delenv("LLMD_GKE_HOME")
    in_cache(tmp_path / "home/.pulumi", program.name).write_text("#!/bin/sh\nexec python -m localcloud.providers.x\n")
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "none"))
    assert official.find(program) is None


@pytest.mark.parametrize(
    ("prints", "fits"),
    [
        (VERSION, True),
        (f"v{VERSION}", True),
        (f"{VERSION}-alpha.1", False),
        ("10.1.0", False),
        ("'; exit 1; '", False),
        ("${GOOGLE_OAUTH_ACCESS_TOKEN:-" + VERSION + "}", True),  # it sees no credentials
    ],
)
def test_googles_plugin_on_path_is_taken_in_exactly_the_sdks_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prints: str, fits: bool
) -> None:
    monkeypatch.setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "10.0.0")
    program = put(tmp_path / "bin" / GOOGLE_PROVIDER, prints)
    assert official.find(GOOGLE) == (program if fits else None)


@BOTH
def test_the_built_plugin_can_be_chosen(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, host: Releases, program: BuiltProgram
) -> None:
    put(tmp_path / "bin" / program.name, VERSION)
    in_cache(tmp_path / "home/.pulumi", program.name)
    put(plugins.path(program, cache))
    monkeypatch.setenv(official.VARIABLE, "built")
    assert (remaining(cache, program.name)[0], host.asked) == ([program.name], [])
    built = put(program.path(cache))
    assert binaries.path(program.name) == built
    monkeypatch.setenv(official.VARIABLE, "official")
    with pytest.raises(BadInput, match=r"official is not allowed\. Allowed: built\.\nFix: unset"):
        binaries.path(program.name)


# -- downloads ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Releases]:
    """Both of Pulumi's hosts, without a release."""
    with releases.serving() as running:
        sources = (running.url + "/pulumi-{plugin}/v{version}", running.url + PULUMI)
        monkeypatch.setattr(plugins, "SOURCES", sources)
        yield running


def remaining(cache: Path, *names: str) -> tuple[list[str], str]:
    """The programs that have to be built, and what was said."""
    said = list[str]()
    rest = resolve.to_build(names or [GOOGLE_PROVIDER], cache, said.append)
    return [program.name for program in rest], "\n".join(said)


@pytest.mark.parametrize(("folder", "like"), [(GITHUB, "sha1 ./"), (PULUMI, "sha256 *"), (PULUMI, "sha256 ")])
def test_a_plugin_is_downloaded_from_either_host_once(host: Releases, cache: Path, folder: str, like: str) -> None:
    host.publish(folder, LIST, NAME, RIGHT, like=like)
    assert remaining(cache)[0] == []
    assert binaries.path(GOOGLE_PROVIDER) == plugins.path(GOOGLE, cache)
    asked = list(host.asked)
    assert remaining(cache) == ([], "")
    assert host.asked == asked


def test_the_kubernetes_plugin_is_downloaded_alike_and_other_programs_are_built(host: Releases, cache: Path) -> None:
    version = metadata.version("pulumi-kubernetes")
    name = f"{PROVIDER_NAME}-v{version}-linux-amd64.tar.gz"
    host.publish(PULUMI, f"pulumi-kubernetes_{version}_checksums.txt", name, packed({PROVIDER_NAME: "exit 2"}))
    assert remaining(cache, "etcd", PROVIDER_NAME)[0] == ["etcd"]
    assert binaries.path(PROVIDER_NAME).stat().st_mode & 0o111


@pytest.mark.parametrize(
    "archive",
    [
        packed({"other": ""}),
        packed({GOOGLE_PROVIDER: "echo 10.1.0"}),
        packed({GOOGLE_PROVIDER: f"echo {VERSION}", "../outside": ""}),
        RIGHT[:-100],
    ],
    ids=["another program", "another version", "writes elsewhere", "cut"],
)
def test_an_archive_that_does_not_hold_the_plugin_is_left_aside(host: Releases, cache: Path, archive: bytes) -> None:
    host.publish(GITHUB, LIST, NAME, archive)
    rest, said = remaining(cache)
    assert rest == [GOOGLE_PROVIDER]
    assert f"the official {GOOGLE_PROVIDER} {VERSION} could not be downloaded; building it" in said
    assert [path.name for path in (cache / "programs").iterdir()] == []
    assert not (cache / "outside").exists()


@pytest.mark.parametrize(
    ("name", "limit"), [("LARGEST", 0), ("LONGEST_SECONDS", 0), ("platform.machine", lambda: "riscv64")]
)
def test_an_archive_that_is_too_large_too_slow_or_for_other_machines_is_given_up(
    host: Releases, cache: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: object
) -> None:
    host.publish(GITHUB, LIST, NAME, RIGHT)
    monkeypatch.setattr(f"{download.__name__}.{name}", limit)
    assert remaining(cache)[0] == [GOOGLE_PROVIDER]


def test_an_archive_with_a_wrong_checksum_is_not_unpacked_and_the_other_host_is_tried(
    host: Releases, cache: Path
) -> None:
    host.publish(GITHUB, LIST, NAME, RIGHT)
    host.files[f"{GITHUB}/{NAME}"] = packed({GOOGLE_PROVIDER: f"echo {VERSION}; echo >&2 evil"})
    rest, said = remaining(cache)
    assert rest == [GOOGLE_PROVIDER]
    assert "it was not unpacked" in said
    host.publish(PULUMI, LIST, NAME, RIGHT)
    assert remaining(cache)[0] == []


@pytest.mark.parametrize("content", [b"", b"<html>", f"{'0' * 63}  {NAME}\n".encode(), b"\xff\xfe"])
def test_without_a_checksum_nothing_is_downloaded(host: Releases, cache: Path, content: bytes) -> None:
    host.files = {f"{GITHUB}/{NAME}": RIGHT, f"{GITHUB}/{LIST}": content}
    assert remaining(cache)[0] == [GOOGLE_PROVIDER]
    assert f"{GITHUB}/{NAME}" not in host.asked


def test_a_host_that_does_not_answer_is_asked_once(
    host: Releases, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "ANSWER_SECONDS", 0.2)
    host.files = {f"{GITHUB}/{LIST}": None, f"{PULUMI}/{LIST}": None}
    assert remaining(cache, GOOGLE_PROVIDER, PROVIDER_NAME)[0] == [GOOGLE_PROVIDER, PROVIDER_NAME]
    assert host.asked == [f"{GITHUB}/{LIST}", f"{PULUMI}/{LIST}"]


def test_a_machine_with_neither_plugin_nor_download_nor_go_is_told_what_to_install_and_its_size() -> None:
    with pytest.raises(SetUpFailed) as raised:
        binaries.ensure([GOOGLE_PROVIDER], Console(quiet=True))
    assert "Go is required to build pulumi-resource-gcp" in str(raised.value)
    assert f"pulumi plugin install resource gcp {VERSION}" in str(raised.value)
