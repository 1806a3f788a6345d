"""Nothing is built or run unless the environment asks for it; kube state metrics are those of GKE's package."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmd_common.problems import BadInput
from localcloud.cluster.processes import PROGRAMS, services
from localcloud.common.layout import Layout
from localcloud.monitoring import google, kube_state, options
from localcloud.monitoring.targets import Where
from localcloud.providers.protocol.values import JsonObject


@pytest.mark.parametrize(("value", "factor"), [("", 0), ("0", 0), ("1", 1), ("30", 30), ("2.5", 2.5)])
def test_the_variable_says_whether_and_how_much_faster(value: str, factor: float) -> None:
    assert options.faster({"LLMD_GKE_PROMETHEUS": value}) == factor
    assert bool(options.programs({"LLMD_GKE_PROMETHEUS": value})) is bool(factor)
    assert options.programs({}) == ()


@pytest.mark.parametrize("value", ["yes", "-1", "0.5", "nan", "inf", "1001"])
def test_another_value_is_refused_with_what_is_allowed(value: str) -> None:
    with pytest.raises(BadInput, match=rf"LLMD_GKE_PROMETHEUS={value}: allowed: 0, or .*\nFix: set 1"):
        options.faster({"LLMD_GKE_PROMETHEUS": value})


def test_the_daemon_is_a_process_of_the_cluster_only_with_its_programs(tmp_path: Path) -> None:
    names = (*PROGRAMS, *options.PROGRAMS)
    without = services(Layout(tmp_path), {name: Path(name) for name in PROGRAMS})
    with_them = services(Layout(tmp_path), {name: Path(name) for name in names})
    assert "monitoring" not in [one.name for one in without]
    assert [one.name for one in with_them if one not in without and one.name == "monitoring"] == ["monitoring"]


def test_kube_state_metrics_exports_what_the_cluster_has_on_and_gke_has() -> None:
    command = kube_state.command(Path("/bin/ksm"), Path("/kubeconfig"), {"POD", "HPA", "SYSTEM_COMPONENTS"})
    assert "--resources=pods,horizontalpodautoscalers" in command
    (metrics,) = [one.partition("=")[2].split(",") for one in command if one.startswith("--metric-allowlist=")]
    assert "kube_pod_status_unschedulable" in metrics
    assert not [name for name in metrics if name.startswith("kube_deployment")]
    bare = kube_state.command(Path("/bin/ksm"), Path("/kubeconfig"), {"SYSTEM_COMPONENTS"})
    assert "--metric-allowlist=kube_pod_container_status_restarts_total" in bare


@pytest.mark.parametrize("managed", [True, False])
def test_a_cluster_is_monitored_once_managed_prometheus_is_on(managed: bool) -> None:
    config: JsonObject = {"enableComponents": ["POD"], "managedPrometheus": {"enabled": managed}}
    cluster: JsonObject = {"inputs": {"monitoringConfig": config}}
    clusters: JsonObject = {"projects/demo/locations/europe-west4/clusters/serving": cluster}
    content: JsonObject = {"objects": {"gcp:container/cluster:Cluster": clusters}}
    expected = google.Monitored(Where("demo", "europe-west4", "serving"), frozenset({"POD"}))
    assert google.monitored(content) == (expected if managed else None)
    assert google.monitored({}) is None
