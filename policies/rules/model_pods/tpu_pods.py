"""Model pods on TPU: chips, parallelism, startup probes, arguments and environment of servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from llmd_gke.catalog import kserve
from llmd_gke.catalog.accelerators import NVIDIA, TPU
from llmd_gke.rules import gpu, multi_host, pods, serving, tpu_pods
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from policies.rules.kinds import CHARTS, JOB, LLM_SERVICE, WORKER_SET
from policies.rules.rule import Parameter, ParameterValues, Rule, Subject
from policies.rules.workloads import KSERVE, SERVERS, WORKLOADS, all_pods, model_pods, on_model_pods

TPU_DOC = "https://cloud.google.com/kubernetes-engine/docs/how-to/tpus"
TPU_INFERENCE = "https://github.com/vllm-project/tpu-inference/blob/main/tpu_inference/platforms/tpu_platform.py"
PRESET = kserve.source(f"{kserve.PRESETS}/config-llm-template.yaml")


def _complete(subject: Subject) -> bool:
    """Whether the pods are complete, rather than merged with other objects or with the defaults of a chart."""
    return (
        not subject.partial
        and subject.kind not in CHARTS
        and not (subject.kind == LLM_SERVICE and subject.spec.get("baseRefs").value)
    )


def on_tpu(subject: Subject) -> bool:
    """Whether any pod of the object uses TPUs."""
    return any(pods.accelerator(pod) is TPU for pod in all_pods(subject))


def _tpu_pod(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    found = list(model_pods(subject))
    tables = (table.get("annotations").value for table in subject.node.within(Mapping))
    annotations = {key for table in tables if isinstance(table, Mapping) for key in table}
    for pod in found:
        group = found[1:] if subject.kind == WORKER_SET and pod is found[0] else []
        leads = any(pods.chips(container) for worker in group for container in worker.get("containers").each())
        yield from tpu_pods.tpu_pod(pod, complete=_complete(subject), leads=leads, annotations=annotations)


def _parallelism(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    spec = subject.spec
    if subject.kind == WORKER_SET:
        return
    if spec.get("worker").value is not None:
        for pod in model_pods(subject):
            yield from multi_host.group(spec.get("parallelism"), pod)
        return
    for pod in model_pods(subject):
        service = spec.get("parallelism") if subject.kind in KSERVE else Input(None)
        preset = subject.kind == LLM_SERVICE
        yield from tpu_pods.tensor_parallel(pod, service, complete=_complete(subject), preset=preset)


def _startup(subject: Subject, settings: ParameterValues) -> Iterator[Finding]:
    if _complete(subject) and subject.kind in SERVERS and subject.kind != JOB:
        for pod in pods.serving_pods(subject.kind.name, subject.spec):
            ends = pod.get("restartPolicy").value in ("Never", "OnFailure")
            if ends and not any(pods.runs_vllm(container) for container in pod.get("containers").each()):
                continue  # it runs to its end, and serves nobody
            yield from tpu_pods.startup_probe(pod, settings.number("minimumMinutes"))


def _arguments(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    tpu = on_tpu(subject)
    for pod in model_pods(subject):
        yield from pods.server_arguments(pod, kind=TPU if tpu else None, of_kserve=subject.kind in KSERVE)
    if tpu and subject.kind in KSERVE:
        yield from serving.kv_offloading(subject.spec, TPU)


def _gpu_arguments(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    for pod in model_pods(subject):
        if pods.accelerator(pod) is NVIDIA:
            yield from pods.server_arguments(pod, kind=NVIDIA, of_kserve=subject.kind in KSERVE)


def _environment(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    if on_tpu(subject):
        for pod in model_pods(subject):
            yield from tpu_pods.environment(pod)


TPU_POD = Rule(
    name="tpu-pod",
    title="TPU pods request all chips of their node in one container and select accelerator and topology",
    why="GKE's admission controller (Warden) rejects TPU pods without selectors for accelerator and topology, and "
    "pods that do not request every chip of the node in a single container. The label values are GKE's "
    "(`tpu-v6e-slice`), not those of the Cloud TPU API (`v6e-4`, `tpu-v6e`).",
    sources=(TPU_DOC, "https://github.com/skypilot-org/skypilot/issues/5024"),
    kinds=WORKLOADS,
    check_object=_tpu_pod,
)

TPU_PARALLELISM = Rule(
    name="tpu-parallelism",
    title="Parallelism equals the devices of a TPU pod, or of the slice for a group of pods",
    why="A pod must request all chips of its node; a server that uses fewer devices leaves paid chips idle, and one "
    "that expects more does not start. A chip of tpu7x is two devices, of other families one. Tensor, data and "
    "pipeline parallelism are multiplied, and each is 1 by default. With workers KServe creates "
    "`parallelism.pipeline` pods: if their number differs from the slice's hosts, the group never becomes ready.",
    sources=("https://github.com/AI-Hypercomputer/tpu-recipes/tree/main/inference", TPU_DOC),
    kinds=WORKLOADS,
    check_object=_parallelism,
)

TPU_STARTUP = Rule(
    name="tpu-startup-probe",
    title="TPU servers have a startup probe that outlasts XLA",
    why="Image, weights and XLA compilation take minutes (250 s for a 3B model, more for larger ones). KServe's preset "
    "allows 10 minutes; a long readiness delay instead would make every start as slow as the slowest.",
    sources=(PRESET, "https://github.com/vllm-project/vllm/issues/15313"),
    kinds=tuple(kind for kind in SERVERS if kind != JOB),
    check_object=_startup,
    severity="medium",
    parameters=(
        Parameter(
            "minimumMinutes", TPU.minimum_startup_minutes, "Minimum time that the startup probe allows, in minutes"
        ),
    ),
    opt_out="For small models with a compile cache, lower `minimumMinutes`.",
)

TPU_ARGUMENTS = Rule(
    name="tpu-server-argument",
    title="Servers on TPU have no arguments that the TPU backend rejects",
    why="`--prefix-cache-block-size` does not exist in any vLLM version (`unrecognized arguments`), and the TPU "
    "backend supports few quantizations and KV connectors; GPU arguments make the server exit. The server completes "
    "abbreviated names: `--por` is `--port`, and overrides it.",
    sources=(TPU_INFERENCE,),
    kinds=WORKLOADS,
    check_object=_arguments,
)

IMAGE_HARDWARE = Rule(
    name="image-hardware",
    title="Images of servers are built for the accelerator of their nodes",
    why="Images for CUDA such as `vllm/vllm-openai` have no TPU backend, and `vllm/vllm-tpu` has no other: the server "
    "exits, on a host that is paid. "
    "The hardware is read from the image's name.",
    sources=("https://docs.vllm.ai/projects/tpu/en/latest/",),
    kinds=WORKLOADS,
    check_object=on_model_pods(tpu_pods.image_hardware),
    opt_out="An image of your own for TPU whose name says something else: rename it, or set this rule to advisory.",
)

TPU_ENVIRONMENT = Rule(
    name="tpu-environment",
    title="TPU pods have no GPU settings and none that GKE sets itself",
    why="GPU variables have no effect on TPU; host bounds and worker IDs are set by GKE and LeaderWorkerSet, and "
    "wrong values break slices; with `SKIP_JAX_PRECOMPILE=1` the first requests have to wait for compilation.",
    sources=("https://github.com/vllm-project/tpu-inference/blob/main/tpu_inference/envs.py",),
    kinds=WORKLOADS,
    check_object=_environment,
    level="advisory",
    severity="low",
)

GPU_ARGUMENTS = Rule(
    name="gpu-server-argument",
    title="Servers on GPUs have no arguments that the CUDA build rejects",
    why="The server exits on arguments, formats of weights and connectors that it does not have.",
    sources=("https://docs.vllm.ai/en/stable/features/quantization/",),
    kinds=WORKLOADS,
    check_object=_gpu_arguments,
)

GPU_PRECISION = Rule(
    name="gpu-precision",
    title="Data types of servers are ones that their GPU computes in",
    why="T4 has no bfloat16, T4 and A100 have no FP8: the server exits when it starts.",
    sources=("https://docs.vllm.ai/en/stable/features/quantization/",),
    kinds=WORKLOADS,
    check_object=on_model_pods(gpu.precision),
)
