"""Model pods: TPU requests, probes, arguments, images, secrets; and the endpoint picker beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from llmd_gke.checks import multi_host, pods, serving, tpu_pods
from llmd_gke.checks.finding import Finding
from llmd_gke.checks.tree import Node
from policies.rules.rule import (
    DEPLOYMENT,
    JOB,
    POD,
    SERVICE,
    SERVICE_CONFIG,
    STATEFUL_SET,
    WORKER_SET,
    Example,
    Parameter,
    Rule,
    Settings,
    Subject,
)

KSERVE = (SERVICE, SERVICE_CONFIG)
WORKLOADS = (*KSERVE, DEPLOYMENT, STATEFUL_SET, JOB, POD, WORKER_SET)
TPU_DOC = "https://cloud.google.com/kubernetes-engine/docs/how-to/tpus"
TPU_INFERENCE = "https://github.com/vllm-project/tpu-inference/blob/main/tpu_inference/platforms/tpu_platform.py"
PRESET = "https://github.com/kserve/kserve/blob/v0.20.0/config/llmisvcconfig/config-llm-template.yaml"


def _complete(subject: Subject) -> bool:
    """Whether the pods are all there, rather than merged with other objects."""
    return not subject.partial and not (subject.kind == SERVICE and subject.spec.get("baseRefs").value)


def model_pods(subject: Subject) -> Iterator[Node]:
    """KServe's pods, and those of other workloads if they are for TPU."""
    for pod in pods.pod_specs(subject.kind.name, subject.spec):
        if subject.kind in KSERVE or pods.wants_tpu(pod):
            yield pod


def on_tpu(subject: Subject) -> bool:
    """Whether any pod of the object is for TPU."""
    return any(pods.wants_tpu(pod) for pod in pods.pod_specs(subject.kind.name, subject.spec))


def _all_pods(subject: Subject) -> Iterator[Node]:
    yield from model_pods(subject)
    if subject.kind in KSERVE:
        yield subject.spec.get("router", "scheduler", "template")


def _each(check: Callable[[Node], Iterable[Finding]]) -> Callable[[Subject, Settings], Iterator[Finding]]:
    def run(subject: Subject, _settings: Settings) -> Iterator[Finding]:
        for pod in _all_pods(subject):
            yield from check(pod)

    return run


def _tpu_pod(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    for pod in model_pods(subject):
        yield from tpu_pods.tpu_pod(pod, complete=_complete(subject))


def _parallelism(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    spec = subject.spec
    if subject.kind == WORKER_SET:
        return
    if spec.get("worker").value is not None:
        for pod in model_pods(subject):
            yield from multi_host.group(spec.get("parallelism"), pod)
        return
    for pod in model_pods(subject):
        yield from tpu_pods.tensor_parallel(pod, spec.get("parallelism") if subject.kind in KSERVE else Node(None))


def _startup(subject: Subject, settings: Settings) -> Iterator[Finding]:
    if _complete(subject) and subject.kind != JOB:
        for pod in pods.serving_pods(subject.kind.name, subject.spec):
            yield from tpu_pods.startup_probe(pod, settings.number("minimumMinutes"))


def _arguments(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    tpu = on_tpu(subject)
    for pod in model_pods(subject):
        yield from pods.server_arguments(pod, on_tpu=tpu)
    if tpu and subject.kind in KSERVE:
        yield from serving.kv_offloading(subject.spec)


def _environment(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    if on_tpu(subject):
        for pod in model_pods(subject):
            yield from tpu_pods.environment(pod)


def _picker(subject: Subject, settings: Settings) -> Iterator[Finding]:
    floors: Mapping[str, str] = {
        name: settings.text("gieFloor" if name.endswith("/epp") else "routerFloor") for name in pods.PICKER_FLOORS
    }
    places = (
        [subject.spec.get("router", "scheduler", "template")]
        if subject.kind in KSERVE
        else pods.pod_specs(subject.kind.name, subject.spec)
    )
    for pod in places:
        yield from pods.endpoint_picker(pod, floors)


SELECTOR = (
    "{cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 2x2, "
    'cloud.google.com/gke-accelerator-count: "4"}'
)
PROBE = "{httpGet: {path: /health, port: 8000}, periodSeconds: 10, failureThreshold: 180}"


def config_yaml(
    *,
    selector: str = SELECTOR,
    chips: str = '"4"',
    args: str = '["--tensor-parallel-size", "4"]',
    env: str = "[]",
    probe: str = PROBE,
    image: str = "docker.io/vllm/vllm-tpu:v0.27.0",
    more: str = "",
) -> str:
    """A TPU runtime for KServe."""
    return f"""\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceServiceConfig
metadata: {{name: qwen-tpu, namespace: models}}
spec:
  template:
    nodeSelector: {selector}
    containers:
      - name: main
        image: {image}
        args: {args}
        env: {env}
        resources: {{limits: {{google.com/tpu: {chips}}}}}
        startupProbe: {probe}
{more}"""


GOOD = Example(config_yaml())
FIRST = "spec.template.containers[0]"


def group_yaml(parallelism: str, *, leader_probe: str = PROBE) -> str:
    """A TPU runtime for a 4x4 slice of four hosts: a leader that serves, and its workers."""
    pod = f"""\
    nodeSelector: {SELECTOR.replace("2x2", "4x4")}
    containers:
      - name: main
        image: docker.io/vllm/vllm-tpu:v0.27.0
        args: ["--tensor-parallel-size", "16"]
        resources: {{limits: {{google.com/tpu: "4"}}}}
"""
    return f"""\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceServiceConfig
metadata: {{name: big-tpu, namespace: models}}
spec:
  parallelism: {parallelism}
  template:
{pod}        startupProbe: {leader_probe}
  worker:
{pod}"""


TPU_POD = Rule(
    name="tpu-pod",
    title="TPU pods take all chips of their node in one container and select accelerator and topology",
    why="GKE's admission (Warden) refuses TPU pods without selectors for accelerator and topology, and pods that do "
    "not take every chip of the node in a single container. Label values are GKE's (`tpu-v6e-slice`), not those of "
    "the Cloud TPU API (`v6e-4`, `tpu-v6e`).",
    sources=(TPU_DOC, "https://github.com/skypilot-org/skypilot/issues/5024"),
    kinds=WORKLOADS,
    check=_tpu_pod,
    bad=Example(config_yaml(chips='"1"'), unknown="spec.template.nodeSelector"),
    good=GOOD,
    more_bad=(
        Example(config_yaml(selector="{cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice}")),
        Example(config_yaml(selector=SELECTOR.replace("tpu-v6e-slice", "tpu-v6e"))),
        Example(config_yaml(selector=SELECTOR.replace("2x2", "2x2x1"))),
        Example(config_yaml(selector=SELECTOR.replace('"4"', '"8"'))),
        Example(config_yaml(more='      - name: second\n        resources: {limits: {google.com/tpu: "4"}}\n')),
        Example(config_yaml(chips="null")),
        Example(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: vllm, namespace: models}\nspec:\n  template:\n"
            "    spec: {containers: [{name: vllm, resources: {limits: {google.com/tpu: 4}}}]}\n"
        ),
    ),
    more_good=(
        Example(
            config_yaml(selector=SELECTOR.replace("2x2", "2x4").replace('"4"', '"8"'), chips="8"),
        ),
        Example(
            "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceService\nmetadata: {name: qwen}\n"
            "spec: {baseRefs: [{name: qwen-tpu}], template: {containers: [{name: main, resources: {limits: "
            "{google.com/tpu: 4}}}]}}\n"
        ),
        Example("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {}}}\n"),
    ),
)

TPU_PARALLELISM = Rule(
    name="tpu-parallelism",
    title="Parallelism equals the chips of a TPU pod, and that of a group of pods its slice",
    why="A pod must take all chips of its node; a server that spans fewer leaves paid chips idle, one that spans more "
    "does not start. With workers KServe makes as many pods as `parallelism.pipeline` says: more or fewer than the "
    "slice has hosts never become a whole.",
    sources=("https://github.com/AI-Hypercomputer/tpu-recipes/tree/main/inference/trillium/vLLM", TPU_DOC),
    kinds=WORKLOADS,
    check=_parallelism,
    bad=Example(config_yaml(args='["--tensor-parallel-size", "2"]'), unknown=f"{FIRST}.resources"),
    good=GOOD,
    more_bad=(
        Example(config_yaml(args='["--tensor-parallel-size=8"]')),
        Example(config_yaml(args='["vllm serve /mnt/models --tensor-parallel-size 1"]')),
        Example(config_yaml() + "  parallelism: {tensor: 1}\n"),
        Example(group_yaml("{tensor: 4, pipeline: 2}")),
        Example(group_yaml("{tensor: 16, pipeline: 4}")),
    ),
    more_good=(
        Example(config_yaml() + "  parallelism: {tensor: 4}\n"),
        Example(group_yaml("{tensor: 4, pipeline: 4}")),
        Example(group_yaml("{pipeline: 4}")),
    ),
)

TPU_STARTUP = Rule(
    name="tpu-startup-probe",
    title="TPU servers have a startup probe that outlasts XLA",
    why="Image, weights and XLA compilation take minutes (250 s for a 3B model, more for larger ones). KServe's preset "
    "allows 10 minutes; a long readiness delay instead makes every start as slow as the slowest.",
    sources=(PRESET, "https://github.com/vllm-project/vllm/issues/15313"),
    kinds=tuple(kind for kind in WORKLOADS if kind != JOB),
    check=_startup,
    severity="medium",
    parameters=(Parameter("minimumMinutes", tpu_pods.MINIMUM_STARTUP_MINUTES, "Smallest budget of the startup probe"),),
    bad=Example(
        config_yaml(probe="{httpGet: {path: /health, port: 8000}, periodSeconds: 10, failureThreshold: 60}"),
        unknown=f"{FIRST}.startupProbe",
    ),
    good=GOOD,
    more_bad=(
        Example(config_yaml(probe="null")),
        Example(group_yaml("{tensor: 4, pipeline: 4}", leader_probe="null")),
    ),
    more_good=(Example(group_yaml("{tensor: 4, pipeline: 4}")),),
    opt_out="Small models with a compile cache: lower `minimumMinutes`.",
)

TPU_ARGUMENTS = Rule(
    name="tpu-server-argument",
    title="Servers on TPU get no argument that TPU refuses",
    why="`--prefix-cache-block-size` exists in no vLLM (`unrecognized arguments`), and the TPU backend takes few "
    "quantizations and KV connectors; GPU arguments end the server.",
    sources=(TPU_INFERENCE,),
    kinds=WORKLOADS,
    check=_arguments,
    bad=Example(config_yaml(args='["--prefix-cache-block-size=16"]'), unknown=f"{FIRST}.args[0]"),
    good=GOOD,
    more_bad=(
        Example(config_yaml(args='["--quantization", "gptq"]')),
        Example(config_yaml(args='["--kv-transfer-config", \'{"kv_connector": "NixlConnector"}\']')),
        Example(config_yaml(args='["--swap-space=4"]')),
        Example(config_yaml(env='[{name: VLLM_ADDITIONAL_ARGS, value: "--prefix-cache-block-size 16"}]')),
        Example(config_yaml() + "  kvCacheOffloading: {cpu: 8Gi}\n"),
        Example(
            "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceService\nmetadata: {name: qwen}\n"
            "spec: {template: {containers: [{name: main, args: ['--prefix-cache-block-size', '16']}]}}\n"
        ),
    ),
    more_good=(Example(config_yaml(args='["--quantization=fp8", "--block-size=128"]')),),
)

TPU_ENVIRONMENT = Rule(
    name="tpu-environment",
    title="TPU pods carry no GPU settings and none that GKE sets itself",
    why="GPU variables mean nothing on TPU; host bounds and worker ids are set by GKE and LeaderWorkerSet, and wrong "
    "ones break slices; `SKIP_JAX_PRECOMPILE=1` lets the first requests compile.",
    sources=("https://github.com/vllm-project/tpu-inference/blob/main/tpu_inference/envs.py",),
    kinds=WORKLOADS,
    check=_environment,
    level="advisory",
    severity="low",
    bad=Example(config_yaml(env="[{name: TPU_HOST_BOUNDS, value: '1,1,1'}]"), unknown=f"{FIRST}.env[0]"),
    good=GOOD,
    more_bad=(
        Example(config_yaml(env="[{name: NVIDIA_VISIBLE_DEVICES, value: all}]")),
        Example(config_yaml(env="[{name: SKIP_JAX_PRECOMPILE, value: '1'}]")),
    ),
    more_good=(Example(config_yaml(env="[{name: SKIP_JAX_PRECOMPILE, value: '0'}]")),),
)

IMAGE_TAG = Rule(
    name="image-tag",
    title="Images of model servers and endpoint pickers are pinned",
    why="`latest` and nightly tags move under running replicas; a moved endpoint picker once dropped a flag its "
    "Deployment used, nightly TPU images are pruned.",
    sources=("https://github.com/vllm-project/tpu-inference/blob/main/.buildkite/nightly_releases.yml",),
    kinds=WORKLOADS,
    check=_each(pods.images),
    bad=Example(config_yaml(image="vllm/vllm-tpu:latest"), unknown=f"{FIRST}.image"),
    good=GOOD,
    more_bad=(
        Example(config_yaml(image="vllm/vllm-tpu")),
        Example(config_yaml(image="registry:5000/vllm-tpu:nightly-20260801")),
    ),
    more_good=(Example(config_yaml(image=f"vllm/vllm-tpu@sha256:{'0' * 64}")),),
)

PLAIN_SECRET = Rule(
    name="plain-secret",
    title="Tokens and passwords of model pods come from Secrets",
    why="A value in `env` or in the arguments is readable by everyone who may read pods, and in the state.",
    sources=("https://kubernetes.io/docs/concepts/configuration/secret/",),
    kinds=WORKLOADS,
    check=_each(pods.plain_secrets),
    severity="critical",
    bad=Example(config_yaml(env="[{name: HF_TOKEN, value: written-out}]"), unknown=f"{FIRST}.env[0].name"),
    good=Example(
        config_yaml(env="[{name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hugging-face-token, key: HF_TOKEN}}}]")
    ),
    more_bad=(Example(config_yaml(args='["--api-key", "written-out"]')),),
    more_good=(Example(config_yaml(env="[{name: MAX_TOKENS, value: '100'}]")),),
)


def picker_yaml(image: str, args: str = "[]") -> str:
    """A service with its own endpoint picker image."""
    return f"""\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {{name: qwen, namespace: models}}
spec:
  router:
    scheduler:
      template: {{containers: [{{name: main, image: "{image}", args: {args}}}]}}
"""


PICKER_IMAGE = "ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.9.0"
ENDPOINT_PICKER = Rule(
    name="endpoint-picker",
    title="Endpoint pickers are new enough for GKE's Gateway and serve TLS",
    why="Before llm-d 0.7.0 (Gateway API inference extension 1.4.0) the picker's TLS offers no h2 (`No ALPN "
    "negotiated`, `gRPC stream closed remotely with status 14`). GKE's data plane calls it by TLS.",
    sources=("https://github.com/kubernetes-sigs/gateway-api-inference-extension/pull/2385",),
    kinds=(SERVICE, SERVICE_CONFIG, DEPLOYMENT),
    check=_picker,
    parameters=(
        Parameter("routerFloor", "0.7.0", "Oldest llm-d endpoint picker"),
        Parameter("gieFloor", "1.4.0", "Oldest endpoint picker of the Gateway API inference extension"),
    ),
    bad=Example(
        picker_yaml("ghcr.io/llm-d/llm-d-inference-scheduler:v0.4.0"),
        unknown="spec.router.scheduler.template.containers[0].image",
    ),
    good=Example(picker_yaml(PICKER_IMAGE)),
    more_bad=(
        Example(picker_yaml("registry.k8s.io/gateway-api-inference-extension/epp:v1.3.1")),
        Example(picker_yaml(PICKER_IMAGE, '["--secure-serving=false"]')),
    ),
    more_good=(Example(picker_yaml(PICKER_IMAGE, '["--secure-serving=true"]')),),
)

RULES = (
    TPU_POD,
    TPU_PARALLELISM,
    TPU_STARTUP,
    TPU_ARGUMENTS,
    TPU_ENVIRONMENT,
    IMAGE_TAG,
    PLAIN_SECRET,
    ENDPOINT_PICKER,
)
