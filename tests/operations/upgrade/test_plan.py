"""Which versions a stack runs, by its state and its cluster, and what an upgrade changes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.graph.resources import Graph
from operations.upgrade.plan import CLUSTER, RELEASE, steps
from tests.operations import graphs

PICKER = "kubernetes:serving.kserve.io/v1alpha2:LLMInferenceService"
KEDA = "https://kedacore.github.io/charts/keda-{}.tgz"
LWS = {"chart": "oci://mirror.example/lws", "version": "0.9.0"}


def picked(image: str) -> dict[str, object]:
    return {"spec": {"router": {"scheduler": {"template": {"containers": [{"name": "main", "image": image}]}}}}}


@pytest.mark.parametrize(
    ("kind", "wanted", "there", "planned"),
    [
        pytest.param(RELEASE, LWS, {"inputs": {**LWS, "version": "0.8.0"}}, ("0.8.0", "0.9.0"), id="chart"),
        pytest.param(RELEASE, LWS, {"inputs": LWS}, None, id="the same"),
        pytest.param(RELEASE, LWS, {"inputs": LWS, "external": True, "live": "0.8.0"}, None, id="not ours"),
        pytest.param(RELEASE, LWS, {"inputs": LWS, "live": "v0.8.1"}, ("v0.8.1", "0.9.0"), id="by hand"),
        pytest.param(RELEASE, LWS, {"inputs": LWS, "initErrors": ["x"]}, ("0.9.0", "0.9.0"), id="failed"),
        pytest.param(
            RELEASE, {"chart": KEDA.format("2.21.0")}, {"inputs": {"chart": KEDA.format("2.20.2")}},
            ("2.20.2", "2.21.0"), id="archive",
        ),
        pytest.param(
            RELEASE, {"chart": "charts/lws"}, {"inputs": {"chart": "lws"}, "outputs": {"status": {"version": "0.8.0"}}},
            ("0.8.0", "0.9.9"), id="folder",
        ),
        pytest.param(
            PICKER, picked("x.example/a/picker:v0.9.0@sha256:12"), {"inputs": picked("ghcr.io/picker:v0.8.0")},
            ("v0.8.0", "v0.9.0@sha256:12"), id="image",
        ),
        pytest.param(
            CLUSTER, {"minMasterVersion": "1.35"}, {"outputs": {"masterVersion": "1.34.1-gke.2"}},
            ("1.34.1-gke.2", "1.35"), id="GKE",
        ),
        pytest.param(
            CLUSTER, {"minMasterVersion": "1.35"}, {"outputs": {"masterVersion": "1.34.1"}, "live": "v1.36.2"}, None,
            id="GKE upgraded it",
        ),
    ],
)  # fmt: skip
def test_a_step_is_what_a_stack_runs_and_the_program_does_not(
    kind: str,
    wanted: Mapping[str, Any],
    there: Mapping[str, Any],
    planned: tuple[str, str] | None,
    tmp_path: Path,
) -> None:
    (tmp_path / "charts/lws").mkdir(parents=True)
    (tmp_path / "charts/lws/Chart.yaml").write_text("version: 0.9.9\n")
    new = graphs.node("new", inside="box")
    one = graphs.node("one", after=["new"], inside="box", type_=kind, inputs=wanted)
    live = {title: there.get("live", "") for title in ("GKE", "LeaderWorkerSet")}
    found = steps([{"urn": one.urn, "type": kind, **there}], Graph({one.urn: one, new.urn: new}), tmp_path, live)
    assert [(step.before, step.after) for step in found] == ([planned] if planned else [])
    assert [finding.fix for step in found for finding in step.findings] == (
        [f"pulumi refresh --target '**{one.urn}', then this command again"] if there.get("live") == "v0.8.1" else []
    )
    assert all(step.urns == [new.urn, one.urn] for step in found)  # what it needs and is not there yet comes with it
