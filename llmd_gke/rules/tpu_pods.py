"""Rules about pods on TPU nodes: requests and selectors, parallelism, startup probe, environment.

Sources: https://cloud.google.com/kubernetes-engine/docs/how-to/tpus (requests, selectors); vllm-project/tpu-inference
``tpu_inference/envs.py`` @b8692ff01; kserve ``config/llmisvcconfig/config-llm-template.yaml`` (probes).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from llmd_gke.catalog import compute_class
from llmd_gke.catalog.accelerators import ACCELERATORS, TPU, Family
from llmd_gke.rules import models, parallelism, vllm_arguments
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from llmd_gke.rules.pod_shapes import by_shape
from llmd_gke.rules.pods import accelerator, arguments, chips, chips_of, containers, may_be_vllm
from llmd_gke.wording import counted

PRESET_STARTUP_MINUTES = 10
"""Minutes that the startup probe of KServe's preset allows: image, weights and the first XLA compilation need more."""

TPU_ENVIRONMENT: Mapping[str, str] = {
    "CUDA_VISIBLE_DEVICES": "a GPU setting",
    "VLLM_ATTENTION_BACKEND": "chooses CUDA kernels",
    "PJRT_DEVICE": "the old torch-xla setting, which is no longer read",
    "TPU_CHIPS_PER_HOST_BOUNDS": "set by GKE",
    "TPU_HOST_BOUNDS": "set by GKE",
    "TPU_WORKER_ID": "set by GKE or LeaderWorkerSet",
    "TPU_NAME": "set by LeaderWorkerSet",
    "TPU_ACCELERATOR_TYPE": "set by GKE",
}
TPU_ENVIRONMENT_PREFIXES = {"NVIDIA_": "a GPU setting", "NCCL_": "a GPU setting"}


def tpu_pod(pod: Input, *, complete: bool, leads: bool = False, annotations: Collection[str] = ()) -> Iterator[Finding]:
    """A TPU pod requests all chips of its node in one container and selects accelerator and topology.

    Without ``complete`` the rest of the pod is merged in from another object, so missing fields are not reported.
    Neither are they for a pod that is recognized only by its shape, whose apparent containers may belong to several
    pods. ``leads``: its workers request the chips, and it may run beside them. ``annotations``: those of the object's
    pods; one may choose the topology of a dynamic slice.
    """
    if accelerator(pod) is not TPU:
        return
    guessed = by_shape(pod)
    complete = complete and not guessed
    selector = pod.get("nodeSelector")
    asking = [(container, chips(container)) for container in containers(pod)]
    asking = [(container, number) for container, number in asking if number is not None]
    family = TPU.family_by_label(selector.get(TPU.family_label).text())
    most = family.numa_nodes if family else 1
    if len(asking) > most and not guessed:
        names = ", ".join(container.get("name").text() or container.path for container, _ in asking)
        yield _pod(
            f"{pod.path}: containers {names} request chips; all chips of a TPU node must go to "
            f"{counted(most, 'container')}",
            str(most),
        )
    leads = leads and any(one.get("key").text() == TPU.resource for one in pod.get("tolerations").each())
    if not asking and complete and not leads and not pod.notes.unknown:
        yield _pod(f"{pod.path}: selects TPU nodes but does not request {TPU.resource}", "all chips of the node")
    yield from _selectors(selector, complete, annotations)
    if family is not None and 1 <= len(asking) <= most:
        owner = asking[0][0] if len(asking) == 1 else pod
        yield from _chips(selector, family, owner, sum(number for _, number in asking))


def _pod(problem: str, allowed: str, fix: str = "request all chips of the node in the server's container") -> Finding:
    return Finding("tpu-pod", problem, allowed=allowed, fix=fix)


def _selectors(selector: Input, complete: bool, annotations: Collection[str]) -> Iterator[Finding]:
    accelerator, topology = selector.get(TPU.family_label), selector.get(TPU.topology_label)
    value = accelerator.text()
    family = TPU.family_by_label(value)
    if complete and selector.get(compute_class.LABEL).value is None:
        sliced = family is not None and family.slice_annotation in annotations
        for label in (accelerator,) if sliced else (accelerator, topology):
            if label.value is None:
                yield _pod(
                    f"{label.path} is missing: GKE rejects TPU pods that do not select accelerator and topology",
                    "both labels",
                    "select both, and gke-accelerator-count where a topology is ambiguous",
                )
    if value is not None and family is None:
        allowed = ", ".join(family.label_value for family in TPU.families)
        yield _pod(
            f"{accelerator.path}: no GKE node has the label value {value} (the Cloud TPU API uses v6e-4, GKE's "
            "label is tpu-v6e-slice)",
            allowed,
            "use GKE's label value",
        )
    slice_ = topology.text()
    if family is not None and slice_ is not None and slice_ not in {s.topology for s in family.slices()}:
        allowed = ", ".join(dict.fromkeys(s.topology for s in family.slices()))
        yield _pod(f"{topology.path}: {family.name} has no topology {slice_}", allowed, "use one of these")


def _chips(selector: Input, family: Family, owner: Input, asked: int) -> Iterator[Finding]:
    topology, count = (selector.get(TPU.topology_label).text(), selector.get(TPU.count_label).integer())
    per_host = {s.machine.chips for s in family.slices() if topology in (None, s.topology)}
    if count is not None and per_host and count not in per_host:
        yield _pod(
            f"{selector.path}: no {family.name} node with topology {topology} has {count} chips",
            " or ".join(map(str, sorted(per_host))),
            f"correct {TPU.count_label}",
        )
        return
    allowed = {count} if count is not None else per_host
    if allowed and asked not in allowed:
        yield _pod(
            f"{owner.path} requests {asked} chips of a {family.name} node in topology {topology}, which has "
            f"{' or '.join(str(n) for n in sorted(allowed))}: GKE rejects pods that do not request all of them",
            " or ".join(str(n) for n in sorted(allowed)),
        )


def tensor_parallel(pod: Input, service: Input, *, complete: bool, preset: bool) -> Iterator[Finding]:
    """On one host a server uses every device of the chips that its container requests.

    ``service``: the ``parallelism`` of a KServe object. Without ``complete`` the rest of the pod is merged in from
    another object, so a missing tensor parallelism is not 1. With ``preset`` a container without a command starts the
    server by KServe's, which has the number of ``service``.
    """
    if accelerator(pod) is not TPU:
        return
    selector = pod.get("nodeSelector")
    family = TPU.family_by_label(selector.get(TPU.family_label).text())
    topology = selector.get(TPU.topology_label).text()
    for container in containers(pod):
        asked, argv = chips(container), arguments(container)
        servers = vllm_arguments.servers(argv)
        if asked is None or service.get("data").value is not None or _spans_hosts(family, topology, asked):
            continue
        parts = parallelism.written(argv)
        if parts is None or servers > 1:
            continue
        of_service = service.get("tensor")
        tensors = [(of_service.path, of_service.integer()), (f"{container.path} {parallelism.TENSOR}", parts.tensor)]
        tensors = [(path, tensor) for path, tensor in tensors if tensor is not None]
        by_preset = preset and container.get("command").value is None and of_service.value is None
        missing = parts.tensor is None and (servers or by_preset)
        if missing and complete and not pod.notes.unknown and not vllm_arguments.hides_words(argv):
            tensors.append((f"{container.path} has no {parallelism.TENSOR}, which is 1 by default", 1))
        allowed = {asked * one.devices_per_chip for one in ([family] if family else TPU.families)}
        others = parts.pipeline * parts.others
        for path, tensor in tensors:
            if tensor * others not in allowed:
                besides = f" x {others} (pipeline and data parallelism)" if others > 1 else ""
                has = " or ".join(map(str, sorted(allowed)))
                fits = " or ".join(str(one // others) for one in sorted(allowed) if one % others == 0)
                yield Finding(
                    "tpu-parallelism",
                    f"{path}: {tensor}{besides} is not the {has} devices of {counted(asked, 'chip')}"
                    + (f" of {family.name}" if family else ""),
                    allowed=fits or has,
                    fix=f"write {parallelism.TENSOR}={fits}" if fits else "change --data-parallel-size",
                )


def _spans_hosts(family: Family | None, topology: str | None, asked: int) -> bool:
    shapes = (
        [] if family is None else [s for s in family.slices() if s.topology == topology and s.machine.chips == asked]
    )
    return any(slice_.multi_host for slice_ in shapes)


def startup_probe(pod: Input, minutes: int) -> Iterator[Finding]:
    """The server has time for image, weights and the first XLA compilation before it is killed."""
    if accelerator(pod) not in (TPU, None):
        return
    for container in pod.get("containers").each():
        if chips(container) is None:
            continue
        probe = container.get("startupProbe")
        if not probe.present():
            if probe.value is None:
                yield _probe(
                    probe.path,
                    f"is missing: KServe's preset allows {PRESET_STARTUP_MINUTES} minutes, a plain pod has none, "
                    "and a long readiness delay makes every start as slow as the slowest",
                    minutes,
                )
            continue
        parts = {"periodSeconds": 10, "failureThreshold": 3, "initialDelaySeconds": 0}
        read = {key: probe.get(key) for key in parts}
        if any(node.value is not None and node.integer() is None for node in read.values()):
            continue
        period, failures, delay = (
            default if (value := read[key].integer()) is None else value for key, default in parts.items()
        )
        budget = period * failures + delay
        if budget < minutes * 60:
            yield _probe(probe.path, f"allows {max(budget, 0) / 60:.1f} minutes", minutes)


def _probe(path: str, problem: str, minutes: int) -> Finding:
    return Finding(
        "tpu-startup-probe",
        f"{path} {problem}; image, weights and the first XLA compilation take longer",
        allowed=f"periodSeconds x failureThreshold of at least {minutes} minutes",
        fix="set periodSeconds: 10 and failureThreshold: 180 on /health",
    )


def image_hardware(pod: Input) -> Iterator[Finding]:
    """The image of the container that has the chips is built for them."""
    for container in containers(pod):
        value = container.get("image").text()
        kind = next((one for one in ACCELERATORS if chips_of(container, one.resource)), None)
        if value is not None and kind is not None:
            for finding in models.image_hardware(value, kind):
                yield replace(finding, problem=f"{container.path}.{finding.problem}")


def environment(pod: Input) -> Iterator[Finding]:
    """The environment has no variables for GPUs, and none that GKE sets itself."""
    for container in containers(pod):
        for variable in container.get("env").each():
            name = variable.get("name").text() or ""
            why = TPU_ENVIRONMENT.get(name) or next(
                (why for prefix, why in TPU_ENVIRONMENT_PREFIXES.items() if name.startswith(prefix)), None
            )
            if name == "SKIP_JAX_PRECOMPILE" and variable.get("value").text() == "1":
                why = "the first requests would wait for the compilation"
            if name == "JAX_PLATFORMS" and variable.get("value").text() == "tpu" and may_be_vllm(container):
                why = "without cpu, loading the model fails (set tpu,cpu or remove the variable)"
            if why:
                yield Finding("tpu-environment", f"{variable.path}: {name} on TPU: {why}", fix=f"remove {name}")
        for key in ("limits", "requests"):
            if container.get("resources", key, "nvidia.com/gpu").present():
                path = f"{container.path}.resources.{key}"
                yield Finding("tpu-environment", f"{path}: a TPU pod requests GPUs", fix="remove nvidia.com/gpu")
