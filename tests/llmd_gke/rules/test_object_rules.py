"""Corners of the rules about whole objects that the policies' own examples do not reach."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from llmd_gke.catalog import accelerators
from llmd_gke.rules import gateway, pods, routes, serving, tpu_pods, tpu_pools
from llmd_gke.rules.inputs import UNKNOWN, Input, Value

SLICES = [(family, shape) for family in accelerators.TPU.families for shape in family.slices()]


def test_words_inside_a_start_script_are_arguments() -> None:
    script = 'exec vllm serve /mnt/models \\\n  --quantization "gptq" # the model card says so'
    container: Value = {"command": ["/bin/bash", "-c", script], "args": ["--port", "8000"]}
    arguments = pods.arguments(Input(container))
    assert arguments[-4:] == ["--quantization", "gptq", "--port", "8000"]
    assert pods.arguments(Input({"args": ["unclosed 'quote here"]})) == ["unclosed", "'quote", "here"]


def test_a_route_is_elsewhere_only_if_all_of_its_gateways_are() -> None:
    parents = [Input({"name": "istio"}), Input({"name": "gke", "namespace": "edge"})]
    assert not routes.belongs_elsewhere(parents, "models", ["istio"])
    assert routes.belongs_elsewhere(parents, "models", ["models/istio", "edge/gke"])
    assert not routes.belongs_elsewhere([], "models", ["istio"])


def test_a_route_that_may_be_elsewhere_counts_as_elsewhere_and_says_what_is_unknown() -> None:
    nameless, local = Input({"name": UNKNOWN}), Input({"name": "istio"})
    assert routes.belongs_elsewhere([nameless], "models", ["istio"])
    assert nameless.notes.unknown == ["name"]
    assert not routes.belongs_elsewhere([nameless], "models", [])
    assert routes.belongs_elsewhere([local], None, ["models/istio"])
    assert not routes.belongs_elsewhere([local], None, ["models/kong"])


def test_inline_parents_are_compared_as_written_in_any_order() -> None:
    def refused(gateways: list[Value], parents: list[Value]) -> bool:
        spec: Value = {"router": {"gateway": {"refs": gateways}, "route": {"http": {"spec": {"parentRefs": parents}}}}}
        return any("parentRefs" in each.problem for each in serving.router_shape(Input(spec), "qwen", config=False))

    first: Value = {"name": "a", "namespace": "edge"}
    second: Value = {"name": "b", "namespace": "edge", "sectionName": "https"}
    assert not refused([first, second], [second, {**first, "kind": "Gateway"}])
    assert not refused([first], [])
    assert not refused([], [first])
    assert not refused([first], [{"name": UNKNOWN, "namespace": "edge"}])
    assert refused([first], [first, second])
    assert refused([first], [{"name": "a"}])
    assert refused([second], [{"name": "b", "namespace": "edge"}])


def test_beside_https_a_plain_listener_is_there_for_a_redirect_only() -> None:
    def plain(*listeners: Value) -> int:
        return len(list(gateway.plain_http(Input({"listeners": list(listeners)}))))

    https: Value = {"protocol": "HTTPS"}
    own: Value = {"protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "Same"}}}
    open_: Value = {"protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
    later: Value = {"protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": UNKNOWN}}}
    assert [plain(https), plain(https, own), plain(https, later), plain({"protocol": UNKNOWN}, own)] == [0, 0, 0, 0]
    assert [plain(own), plain(https, open_), plain(https, own, open_), plain(open_, open_)] == [1, 1, 1, 2]


@given(st.sampled_from(SLICES))
def test_every_slice_of_the_catalogue_has_a_pod_and_a_pool_that_pass(
    entry: tuple[accelerators.Family, accelerators.Slice],
) -> None:
    family, shape = entry
    pod: Value = {
        "nodeSelector": {
            accelerators.TPU.family_label: family.label_value,
            accelerators.TPU.topology_label: shape.topology,
            accelerators.TPU.count_label: str(shape.machine.chips),
        },
        "containers": [{"name": "main", "resources": {"limits": {accelerators.TPU.resource: shape.machine.chips}}}],
    }
    assert list(tpu_pods.tpu_pod(Input(pod), complete=True)) == []
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
        tpu_pools.machine,
        tpu_pools.topology,
        tpu_pools.placement,
        tpu_pools.node_counts,
        tpu_pools.boot_disk,
        tpu_pools.upgrade,
        tpu_pools.taint,
    ):
        assert list(check(Input(pool))) == [], check.__name__


@given(st.sampled_from(SLICES), st.integers(1, 16))
def test_a_pod_that_leaves_chips_behind_is_refused(
    entry: tuple[accelerators.Family, accelerators.Slice], asked: int
) -> None:
    family, shape = entry
    hosts = {s.machine.chips for s in family.slices() if s.topology == shape.topology}
    pod: Value = {
        "nodeSelector": {
            accelerators.TPU.family_label: family.label_value,
            accelerators.TPU.topology_label: shape.topology,
        },
        "containers": [{"resources": {"requests": {accelerators.TPU.resource: str(asked)}}}],
    }
    assert bool(list(tpu_pods.tpu_pod(Input(pod), complete=True))) == (asked not in hosts)
