"""Rules about models on slices of several hosts.

Sources: kserve ``workload_multi_node.go`` (a LeaderWorkerSet, one pod per host); kubernetes-sigs/lws v0.9.0
``pkg/webhooks/leaderworkerset_webhook.go`` (an update deletes a group before it creates its successor);
vllm-project/tpu-inference ``tpu_inference/envs.py`` @b8692ff01 (``VLLM_XLA_CACHE_PATH``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llmd_gke.catalog.accelerators import ACCELERATORS, DEFAULT, Slice
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input


def opt_in(pool: str, slice_: Slice, *, opted: bool) -> Iterator[Finding]:
    """A model on several hosts is enabled explicitly: nobody has published that it works on v6e."""
    if slice_.multi_host and not opted:
        yield Finding(
            "model-multi-host",
            f"pool {pool} is a multi-host slice of {slice_.hosts} nodes; models on several hosts are experimental "
            "and have not been run on TPUs yet",
            allowed="a single-host pool, or experimentalMultiHost: true on the model",
            fix="use a single-host pool, or set experimentalMultiHost: true (see docs/multi-host.md)",
        )
    if opted and not slice_.multi_host:
        yield Finding(
            "model-multi-host",
            f"experimentalMultiHost is set, but pool {pool} has single-host slices",
            allowed="a pool whose topology has several hosts, such as 4x4 of ct6e-standard-4t",
            fix="remove experimentalMultiHost",
        )


def compile_cache(cache: str | None, slice_: Slice) -> Iterator[Finding]:
    """Hosts of one slice compile at the same time and must not write one bucket: each keeps its own graphs."""
    if cache is not None and slice_.multi_host:
        yield Finding(
            "multi-host-cache",
            f"the {slice_.hosts} hosts of {slice_.topology} would write the same compiled graphs to one bucket at "
            "the same time",
            allowed="no compileCache: each host keeps its compiled graphs for the lifetime of its pod",
            fix="remove compileCache",
        )


def slices_for_replicas(pool: str, slice_: Slice, maximum: int, replicas: Iterable[int]) -> Iterator[Finding]:
    """Each replica has a slice to itself.

    No spare one is needed: by default LeaderWorkerSet deletes a group before it creates its successor
    (``maxUnavailable`` 1, ``maxSurge`` 0), and KServe sets nothing else.
    """
    counts = list(replicas)
    needed, slices = sum(counts), maximum // slice_.hosts
    if needed > slices:
        yield Finding(
            "tpu-pool-size",
            f"the models on pool {pool} need {needed} slices ({needed * slice_.hosts} hosts), but it has {slices} "
            f"{'slice' if slices == 1 else 'slices'} of {slice_.hosts} hosts",
            allowed=f"{slices} {'replica' if slices == 1 else 'replicas'} in all: a multi-host node pool is one slice",
            fix="use one replica, and a separate pool for each further model",
        )


def group(parallelism: Input, pod: Input) -> Iterator[Finding]:
    """``parallelism`` of a service (or Config) with workers describes the slice that its pods select."""
    selector = pod.get("nodeSelector")
    kind = next((kind for kind in ACCELERATORS if selector.get(kind.family_label).value is not None), DEFAULT)
    topology = selector.get(kind.topology_label).text()
    tensor, pipeline = parallelism.get("tensor"), parallelism.get("pipeline")
    family = kind.family_by_label(selector.get(kind.family_label).text())
    shapes = [slice_ for slice_ in family.slices() if slice_.topology == topology] if family else []
    stages = pipeline.integer()
    if not shapes or stages is None:
        return
    allowed = sorted({slice_.hosts for slice_ in shapes})
    if stages not in allowed:
        yield Finding(
            kind.rule("parallelism"),
            f"{pipeline.path}: KServe would create a group of {stages} pods, but a {topology} slice has "
            f"{' or '.join(map(str, allowed))} hosts",
            allowed=" or ".join(map(str, allowed)),
            fix="set pipeline to the number of hosts in the slice",
        )
        return
    each, devices = tensor.integer(), shapes[0].devices
    if each is not None and each * stages != devices:
        yield Finding(
            kind.rule("parallelism"),
            f"{tensor.path}: {each} x {stages} is not the {devices} devices of {topology}",
            allowed=str(devices // stages),
            fix="set tensor to the number of devices of one host",
        )
