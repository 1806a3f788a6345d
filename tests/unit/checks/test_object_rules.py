"""Corners of the rules about whole objects that the policies' own examples do not reach."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from llmd_gke.catalog import tpu
from llmd_gke.checks import node_pools, pods, routes, tpu_pods, versions
from llmd_gke.checks.tree import Node, Value

SLICES = [(family, shape) for family in tpu.FAMILIES for shape in family.slices()]


def test_versions_compare_by_number() -> None:
    texts = ["1.34", "v1.34.0-gke.1626000", "1.34.1-gke.5", "1.35"]
    numbers = [versions.version_of(text) for text in texts]
    assert numbers == sorted(number for number in numbers if number)
    assert versions.version_of("e6b5db0") is None


def test_words_inside_a_start_script_are_arguments() -> None:
    script = 'exec vllm serve /mnt/models \\\n  --quantization "gptq" # the model card says so'
    container: Value = {"command": ["/bin/bash", "-c", script], "args": ["--port", "8000"]}
    words = pods.arguments(Node(container))
    assert words[-4:] == ["--quantization", "gptq", "--port", "8000"]
    assert pods.arguments(Node({"args": ["unclosed 'quote here"]})) == ["unclosed", "'quote", "here"]


def test_a_route_is_elsewhere_only_if_all_of_its_gateways_are() -> None:
    parents = [Node({"name": "istio"}), Node({"name": "gke", "namespace": "edge"})]
    assert not routes.belongs_elsewhere(parents, "models", ["istio"])
    assert routes.belongs_elsewhere(parents, "models", ["models/istio", "edge/gke"])
    assert not routes.belongs_elsewhere([], "models", ["istio"])


@given(st.sampled_from(SLICES))
def test_every_slice_of_the_catalogue_has_a_pod_and_a_pool_that_pass(entry: tuple[tpu.Family, tpu.Slice]) -> None:
    family, shape = entry
    pod: Value = {
        "nodeSelector": {
            tpu.ACCELERATOR_LABEL: family.accelerator,
            tpu.TOPOLOGY_LABEL: shape.topology,
            tpu.COUNT_LABEL: str(shape.machine.chips),
        },
        "containers": [{"name": "main", "resources": {"limits": {tpu.TPU_RESOURCE: shape.machine.chips}}}],
    }
    assert list(tpu_pods.tpu_pod(Node(pod), complete=True)) == []
    workload: Value = (
        {"type": "", "policyName": "workload", "tpuTopology": shape.topology}
        if family.workload_policy
        else {"type": "COMPACT", "tpuTopology": shape.topology}
    )
    pool: Value = {
        "nodeConfig": {"machineType": shape.machine.name, "diskType": family.boot_disks[0]},
        "nodeCount": shape.hosts,
        **({"placementPolicy": workload} if shape.multi_host else {}),
    }
    for check in (
        node_pools.machine,
        node_pools.topology,
        node_pools.placement,
        node_pools.node_counts,
        node_pools.boot_disk,
        node_pools.upgrade,
        node_pools.taint,
    ):
        assert list(check(Node(pool))) == [], check.__name__


@given(st.sampled_from(SLICES), st.integers(1, 16))
def test_a_pod_that_leaves_chips_behind_is_refused(entry: tuple[tpu.Family, tpu.Slice], asked: int) -> None:
    family, shape = entry
    hosts = {s.machine.chips for s in family.slices() if s.topology == shape.topology}
    pod: Value = {
        "nodeSelector": {tpu.ACCELERATOR_LABEL: family.accelerator, tpu.TOPOLOGY_LABEL: shape.topology},
        "containers": [{"resources": {"requests": {tpu.TPU_RESOURCE: str(asked)}}}],
    }
    assert bool(list(tpu_pods.tpu_pod(Node(pod), complete=True))) == (asked not in hosts)
