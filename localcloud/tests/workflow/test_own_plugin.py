from __future__ import annotations

from importlib import metadata
from pathlib import Path

from localcloud.binaries import official

NAME = "pulumi-resource-kubernetes"


def put(home: Path) -> Path:
    """An executable provider of the SDK's version in a plugin cache."""
    file = home / "plugins" / f"resource-kubernetes-v{metadata.version('pulumi-kubernetes')}" / NAME
    file.parent.mkdir(parents=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


def test_the_users_own_plugin_is_taken_from_either_place(tmp_path: Path) -> None:
    usual, other = put(tmp_path / ".pulumi"), put(tmp_path / "elsewhere")
    assert official.plugin({"HOME": str(tmp_path)}) == usual
    assert official.plugin({"HOME": str(tmp_path), "PULUMI_HOME": str(tmp_path / "elsewhere")}) == other


def test_the_script_in_a_laptop_clouds_own_plugin_folder_is_no_official_plugin(tmp_path: Path) -> None:
    cloud = tmp_path / ".laptop"
    put(cloud / "home")
    inside = {"HOME": str(tmp_path), "PULUMI_HOME": str(cloud / "home"), "LLMD_GKE_HOME": str(cloud)}
    assert official.plugin(inside) is None
    usual = put(tmp_path / ".pulumi")
    assert official.plugin(inside) == usual
