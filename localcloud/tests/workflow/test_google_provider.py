"""Which Google provider runs, and what it makes of what another one left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from llmd_common.problems import Stale
from localcloud.cluster import lifecycle
from localcloud.common.workdir import CloudKind, Workdir
from localcloud.workflow import cloud_files, removal, state

NETWORK = "gcp:compute/network:Network"
URN = f"urn:pulumi:local::llmd-gke::{NETWORK}::vpc"


def workdir_of(tmp_path: Path, kind: CloudKind) -> Workdir:
    return Workdir(tmp_path, tmp_path / "home", kind)


def write(workdir: Workdir, *names: str) -> None:
    """Clouds that hold a network, in these files."""
    workdir.cloud.mkdir(parents=True)
    record = {"inputs": {"name": "vpc", "autoCreateSubnetworks": False, "kind": "as Google shows it"}}
    content = {"objects": {NETWORK: {"projects/p/global/networks/vpc": record}}}
    emulated = {"resources": {"projects/p/global/networks/vpc": {}}}
    for name in names:
        (workdir.cloud / name).write_text(json.dumps(emulated if name == cloud_files.EMULATOR else content))


def test_what_a_destroy_left_at_google_is_named_and_removed(tmp_path: Path) -> None:
    workdir = workdir_of(tmp_path, "laptop")
    workdir.cloud.mkdir(parents=True)
    left = {"resources": {"b/weights": {}}, "policies": {"projects/p": {}}, "operations": {"done": {}}}
    (workdir.cloud / cloud_files.EMULATOR).write_text(json.dumps(left))
    console = Console(record=True, width=200)
    assert cloud_files.remove(workdir, console, had_stacks=True) == 1
    output = console.export_text()
    assert "resource b/weights" in output
    assert "IAM policy of projects/p" in output
    assert "done" not in output
    assert list(workdir.cloud.iterdir()) == []
    assert cloud_files.remove(workdir, console, had_stacks=True) == 0


def hold(workdir: Workdir) -> None:
    """A stack with a resource, as the engine keeps it."""
    (workdir.root / "Pulumi.yaml").write_text("name: llmd-gke\nruntime: python\n")
    state.folder(workdir).mkdir(parents=True)
    resource = {"urn": URN, "type": NETWORK, "custom": True, "id": "projects/p/global/networks/vpc"}
    content = {"version": 3, "checkpoint": {"latest": {"resources": [resource]}}}
    (state.folder(workdir) / "local.json").write_text(json.dumps(content))


@pytest.mark.parametrize("content", ["{half", "[]", "\udcff"])
@pytest.mark.parametrize("name", ["google.json", "kubernetes.json", cloud_files.EMULATOR])
def test_down_forgets_a_laptop_cloud_whose_files_are_damaged(tmp_path: Path, name: str, content: str) -> None:
    workdir = workdir_of(tmp_path, "laptop")
    write(workdir, "google.json", cloud_files.EMULATOR)
    hold(workdir)
    (workdir.cloud / name).write_text(content, errors="surrogateescape")
    console = Console(record=True, width=400)
    assert removal.down(workdir, None, console) == 0
    output = console.export_text()
    assert f"{name} is damaged: " in output
    assert "clouds are deleted" in output
    assert "Nothing is left" in output
    assert not workdir.cloud.exists()
    assert state.names(workdir) == []


def test_only_the_last_stack_takes_a_damaged_cloud_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "has_data", lambda _: True)  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
    workdir = workdir_of(tmp_path, "laptop")
    write(workdir, "google.json")
    hold(workdir)
    file = state.folder(workdir) / "local.json"
    file.with_name("other.json").write_text(file.read_text())
    (workdir.cloud / "google.json").write_text("{half")
    with pytest.raises(Stale, match=r"google\.json is damaged.*\nFix: `make down`, which removes it"):
        removal.down(workdir, "local", Console(quiet=True))
    assert (workdir.cloud / "google.json").exists()


def test_what_a_killed_probe_left_is_not_put_down_to_the_destroy(tmp_path: Path) -> None:
    workdir = workdir_of(tmp_path, "laptop")
    workdir.cloud.mkdir(parents=True)
    host, vpc = "projects/p/zones/z/instances/llmd-gke-probe-1a2b3c4d", "projects/p/global/networks/llmd-gke-probe-0"
    (workdir.cloud / cloud_files.EMULATOR).write_text(json.dumps({"resources": {host: {}, vpc: {}}}))
    console = Console(record=True, width=400)
    assert cloud_files.remove(workdir, console, had_stacks=True) == 0
    assert console.export_text().startswith("Removed leftovers of a `doctor --probe` that was killed: ")
    assert list(workdir.cloud.iterdir()) == []
