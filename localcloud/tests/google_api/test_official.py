"""Which plugin runs on the emulator: the one that was built here, and the official one only for who asks for it."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from llmd_common.problems import BadInput, SetUpFailed
from localcloud import binaries
from localcloud.google_api import official, plugin

VERSION = importlib.metadata.version("pulumi-gcp")
URL = "http://127.0.0.1:8040"
ASKED = {official.VARIABLE: "official"}


@pytest.fixture(autouse=True)
def built(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The plugin that was built here."""
    path = Path("/cache/pulumi-resource-gcp")
    monkeypatch.setattr(binaries, "path", lambda _: path)
    return path


def cached(home: Path, version: str = VERSION) -> Path:
    """An official plugin in Pulumi's plugin cache."""
    program = home / ".pulumi" / "plugins" / f"resource-gcp-v{version}" / "pulumi-resource-gcp"
    program.parent.mkdir(parents=True)
    program.write_text("")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("environ", [{}, {official.VARIABLE: ""}, {official.VARIABLE: "built"}])
def test_an_official_plugin_that_merely_lies_around_is_never_started(
    tmp_path: Path, built: Path, environ: dict[str, str]
) -> None:
    lying = cached(tmp_path)
    on_path = {"PATH": str(lying.parent), "PULUMI_HOME": str(tmp_path / ".pulumi"), **environ}
    path, environment = plugin.program(on_path, tmp_path, URL)
    assert path == built
    assert environment[plugin.ADDRESS] == URL


def test_who_asks_gets_exactly_the_version_of_the_sdk(tmp_path: Path) -> None:
    program = cached(tmp_path)
    assert plugin.program(ASKED, tmp_path, URL)[0] == program


def test_another_version_or_half_a_download_is_not_taken(tmp_path: Path) -> None:
    cached(tmp_path, "10.1.0")
    fix = rf"pulumi plugin install resource gcp {VERSION}"
    with pytest.raises(SetUpFailed, match=fix):
        plugin.program(ASKED, tmp_path, URL)
    folder = cached(tmp_path).parent
    folder.with_name(f"{folder.name}.partial").touch()
    with pytest.raises(SetUpFailed, match=fix):
        plugin.program(ASKED, tmp_path, URL)


def test_another_value_of_the_variable_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"LLMD_GKE_GOOGLE_PLUGIN=yes is not allowed. Allowed: built, official"):
        plugin.program({official.VARIABLE: "yes"}, tmp_path, URL)


def test_the_official_plugin_is_pointed_at_the_emulator_and_given_no_credentials(tmp_path: Path) -> None:
    cached(tmp_path)
    before = {
        "GOOGLE_CREDENTIALS": "{}",
        "GOOGLE_COMPUTE_CUSTOM_ENDPOINT": "https://compute.googleapis.com/compute/v1/",
        "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT": "a@b",
        "NO_PROXY": "googleapis.com",
        "https_proxy": "http://proxy:3128",
        "HOME": "/home/user",
    }
    _, environment = plugin.program(before | ASKED, tmp_path, URL)
    assert environment["HOME"] == "/home/user"
    given = {
        name: value for name, value in environment.items() if name.startswith("GOOGLE_") and "ENDPOINT" not in name
    }
    assert given == {"GOOGLE_APPLICATION_CREDENTIALS": "/dev/null", "GOOGLE_OAUTH_ACCESS_TOKEN": "emulator"}
    addresses = {value for name, value in environment.items() if "PROXY" in name.upper() or "ENDPOINT" in name}
    assert {urlsplit(address).hostname for address in addresses} == {"127.0.0.1"}
    assert "NO_PROXY" not in environment
