"""What a laptop cloud builds besides its own programs, by what the stack file asks for."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from llmd_common.problems import BadInput
from localcloud import binaries
from localcloud.cluster import autoscaling, front_door, lifecycle, saturation
from localcloud.common.workdir import Workdir
from localcloud.gke_gateway.crds import upstream
from localcloud.go_builds import charts
from localcloud.monitoring import options

DOOR, KEDA, COUNTING = front_door.PROGRAMS, autoscaling.PROGRAMS, saturation.PROGRAMS
BOUNDS = "llmd-gke:models: [{name: a, replicas: 1}, {name: b, minReplicas: 1, maxReplicas: 3%s}]"
OTHER = "llmd-gke:models: [{name: a}, %s]"
NEW = "\n  llmd-gke:cluster: {minVersion: '1.37'}"
SEQUENCES = "llmd-gke:models: [{name: a, maxNumSeqs: 4}]\n  llmd-gke:frontDoor: {callers: [{name: a}, %s]}"
STACKS: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "no stack": (None, ()),
    "plain": ("gcp:project: demo", ()),
    "front door": ("llmd-gke:frontDoor: {callers: []}", DOOR),
    "replicas follow the load": (BOUNDS % "", KEDA),
    "KEDA although GKE has an adapter": (BOUNDS % ", scaling: {source: keda}" + NEW, KEDA),
    "GKE's adapter": (BOUNDS % "" + NEW, ()),
    "a fixed number": ("llmd-gke:models: [{name: a, replicas: 1}]", ()),
    "limited requests": (OTHER % "{name: b, scheduler: {saturation: {maxConcurrency: 4}}}", COUNTING),
    "saturation without a limit": (OTHER % "{name: b, scheduler: {saturation: {headroom: 0.2}}}", ()),
    "priorities and a number of sequences": (SEQUENCES % "{name: b, priority: 1}", (*DOOR, *COUNTING)),
    "a number of sequences": (SEQUENCES % "{name: b, priority: 0}", DOOR),
    "a scheduler of another type": (OTHER % "{name: b, scheduler: 7}", ()),
    "a model of another type": (OTHER % "7", ()),
}


@pytest.fixture
def workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workdir:
    monkeypatch.delenv(options.VARIABLE, raising=False)
    return Workdir(tmp_path, tmp_path / "home", "laptop")


@pytest.mark.parametrize("name", STACKS)
def test_programs_and_charts_are_for_stacks_that_need_them(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    settings, programs = STACKS[name]
    (workdir.root / "Pulumi.some.yaml").write_text(f"config:\n  {settings}\n")
    built, laid_out = list[str](), list[tuple[bool, Path | None]]()

    def prepare(_: Path, *, front_door: bool, kubectl: Path | None) -> None:
        laid_out.append((front_door, kubectl))

    monkeypatch.setattr(binaries, "path", Path)
    monkeypatch.setattr(binaries, "ensure", lambda names, _: built.extend(names))
    monkeypatch.setattr(charts, "prepare", prepare)
    monkeypatch.setattr(upstream, "prepare", lambda _: None)
    lifecycle.ensure_binaries(workdir, Console(quiet=True), settings and "some")
    assert laid_out == [(programs[: len(DOOR)] == DOOR, Path("kubectl") if programs is KEDA else None)]
    assert {*built} & {*DOOR, *KEDA, *COUNTING} - {*binaries.names()} == {*programs} - {*binaries.names()}
    assert {"etcd", "envoy"} <= {*built}


def test_a_stack_file_that_cannot_be_read_is_rejected_before_anything_is_built(workdir: Workdir) -> None:
    (workdir.root / "Pulumi.broken.yaml").write_text("config: 7\n")
    with pytest.raises(BadInput, match=r"Pulumi\.broken\.yaml"):
        lifecycle.ensure_binaries(workdir, Console(quiet=True), "broken")
