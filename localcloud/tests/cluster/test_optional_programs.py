"""What a laptop cloud builds besides its own programs, by what the stack file asks for."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from rich.console import Console

from llmd_gke.repository import CLONE
from localcloud import binaries
from localcloud.cluster import autoscaling, front_door, lifecycle
from localcloud.common.workdir import CLOUD, Workdir
from localcloud.gke_gateway.crds import upstream
from localcloud.go_builds import charts
from localcloud.monitoring import options
from localcloud.providers.protocol.values import JsonObject

DOOR, KEDA, COUNTING = front_door.PROGRAMS, autoscaling.PROGRAMS, (lifecycle.COUNTING_PICKER,)
ISTIO = lifecycle.ISTIO_PROGRAMS
LOAD: JsonObject = {"minReplicas": 1, "maxReplicas": 3}
NEW: JsonObject = {"minVersion": "1.37"}
STACKS: dict[str, tuple[str | None, JsonObject, JsonObject, tuple[str, ...]]] = {
    "no stack": (None, {}, {}, ()),
    "a fixed number": ("local", {"replicas": 1}, {}, ()),
    "front door": ("door", {}, {}, DOOR),
    "Istio's Gateway": ("istio", {}, {}, ISTIO),
    "replicas follow the load": ("local", LOAD, {}, KEDA),
    "KEDA although GKE has an adapter": ("local", {**LOAD, "scaling": {"source": "keda"}}, NEW, KEDA),
    "GKE's adapter": ("local", LOAD, NEW, ()),
    "limited requests": ("local", {"scheduler": {"saturation": {"maxConcurrency": 4}}}, {}, COUNTING),
    "saturation without a limit": ("local", {"scheduler": {"saturation": {"headroom": 0.2}}}, {}, ()),
    "priorities and a number of sequences": ("door", {"maxNumSeqs": 4}, {}, (*DOOR, *COUNTING)),
    "a number of sequences": ("local", {"maxNumSeqs": 4}, {}, ()),
}


@pytest.fixture
def workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workdir:
    monkeypatch.delenv(options.VARIABLE, raising=False)
    monkeypatch.setenv(CLOUD, "laptop")  # what the command sets is taken back
    return Workdir(tmp_path, tmp_path / "home", "laptop")


@pytest.mark.parametrize("name", STACKS)
def test_programs_and_charts_are_for_stacks_that_need_them(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    stack, model, cluster, programs = STACKS[name]
    if stack:
        content = yaml.safe_load((CLONE / f"Pulumi.{stack}.yaml").read_text())
        config, (first, *_) = content["config"], content["config"]["llmd-gke:models"]
        del first["replicas"]
        first.update(model)
        config["llmd-gke:cluster"].update(cluster)
        (workdir.root / f"Pulumi.{stack}.yaml").write_text(yaml.safe_dump(content))
    built, laid_out = list[str](), list[tuple[bool, bool, Path | None]]()

    def prepare(_: Path, *, front_door: bool, istio: bool, kubectl: Path | None) -> None:
        laid_out.append((front_door, istio, kubectl))

    monkeypatch.setattr(binaries, "path", Path)
    monkeypatch.setattr(binaries, "ensure", lambda names, _: built.extend(names))
    monkeypatch.setattr(charts, "prepare", prepare)
    monkeypatch.setattr(upstream, "prepare", lambda _: None)
    lifecycle.ensure_binaries(workdir, Console(quiet=True), stack)
    kubectl = Path("kubectl") if programs is KEDA else None
    assert laid_out == [(programs[: len(DOOR)] == DOOR, programs is ISTIO, kubectl)]
    assert {*built} & {*DOOR, *KEDA, *COUNTING, *ISTIO} - {*binaries.names()} == {*programs} - {*binaries.names()}
    assert {"etcd", "envoy"} <= {*built}
