"""Images and secrets of model pods, and their endpoint picker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TypeAlias

from llmd_gke.rules import exposure, pickers, pods, serving
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from policies.rules.rule import Check, Parameter, ParameterValues, Rule, Subject
from policies.rules.workloads import KSERVE, WORKLOADS, all_pods, model_pods

_CheckInput: TypeAlias = Callable[[Input], Iterable[Finding]]


def _pods_and_picker(subject: Subject) -> Iterator[Input]:
    yield from model_pods(subject)
    if subject.kind in KSERVE:
        yield subject.spec.get("router", "scheduler", "template")


def _on_each(check: _CheckInput, of_model: _CheckInput = lambda _spec: ()) -> Check:
    """The check of every pod, and of the ``spec`` of KServe's objects."""

    def run(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
        for pod in _pods_and_picker(subject):
            yield from check(pod)
        if subject.kind in KSERVE:
            yield from of_model(subject.spec)

    return run


def _picker(subject: Subject, settings: ParameterValues) -> Iterator[Finding]:
    floors: Mapping[str, str] = {
        name: settings.text("gieFloor" if name.endswith("/epp") else "routerFloor") for name in pickers.FLOORS
    }
    pod_specs = [subject.spec.get("router", "scheduler", "template")] if subject.kind in KSERVE else all_pods(subject)
    for pod in pod_specs:
        yield from pickers.endpoint_picker(pod, floors)
        if subject.kind in KSERVE:
            yield from pickers.picker_ceiling(pod, settings.text("presetPicker"))


IMAGE_TAG = Rule(
    name="image-tag",
    title="Images of model servers and endpoint pickers are pinned",
    why="`latest` and nightly tags change while replicas run; a changed endpoint picker image once dropped a flag "
    "that its Deployment used, and nightly TPU images are deleted after a while.",
    sources=("https://github.com/vllm-project/tpu-inference/blob/main/.buildkite/nightly_releases.yml",),
    kinds=WORKLOADS,
    check_object=_on_each(pods.images, serving.model_images),
)

PLAIN_SECRET = Rule(
    name="plain-secret",
    title="Tokens and passwords of model pods come from Secrets",
    why="A value in `env` or in the arguments can be read by anyone who may read pods, and in the stack's state.",
    sources=("https://kubernetes.io/docs/concepts/configuration/secret/",),
    kinds=WORKLOADS,
    check_object=_on_each(pods.plain_secrets, serving.model_secrets),
    severity="critical",
)


ENDPOINT_PICKER = Rule(
    name="endpoint-picker",
    title="Endpoint pickers are new enough for their Gateway and serve TLS",
    why="Before llm-d 0.7.0 (Gateway API inference extension 1.4.0) the endpoint picker's TLS does not offer h2 "
    "(`No ALPN negotiated`, `gRPC stream closed remotely with status 14`). GKE's data plane calls it over TLS, and "
    "Istio's proxies do by the rule that `istio-picker-tls` asks for.",
    sources=("https://github.com/kubernetes-sigs/gateway-api-inference-extension/pull/2385",),
    kinds=WORKLOADS,
    check_object=_picker,
    parameters=(
        Parameter("routerFloor", "0.7.0", "Minimum version of the llm-d endpoint picker"),
        Parameter(
            "presetPicker",
            pickers.preset_picker(),
            "Version of the llm-d endpoint picker in KServe's preset; a service may use only newer patch releases "
            "of it",
        ),
        Parameter("gieFloor", "1.4.0", "Minimum version of the endpoint picker of the Gateway API inference extension"),
    ),
)

SERVER_ENVIRONMENT = Rule(
    name="server-environment",
    title="Nothing exposes more of a model server than inference",
    why="`VLLM_ALLOW_RUNTIME_LORA_UPDATING` lets any client load weights of its choice, `VLLM_SERVER_DEV_MODE` "
    "enables paths that pause and reset the server, and `VLLM_ALLOW_INSECURE_SERIALIZATION` runs code that "
    "clients send. With the argument `--allowed-local-media-path` the server reads its own files for clients.",
    sources=(
        "https://docs.vllm.ai/en/latest/features/lora.html",
        "https://github.com/vllm-project/vllm/blob/main/vllm/envs.py",
    ),
    kinds=WORKLOADS,
    check_object=_on_each(pods.open_servers),
    severity="high",
)


MODEL_PRIVILEGES = Rule(
    name="model-privileges",
    title="Model servers add no capabilities",
    why="A server needs none: on GKE 1.28 and later TPU pods run without additional capabilities. For pods of "
    "every kind, `privileged-pod` covers privileged containers and capabilities that are equivalent to access "
    "to the node.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/how-to/tpus#privileged-mode",),
    kinds=WORKLOADS,
    check_object=_on_each(partial(pods.privileges, refused=exposure.STRONG_CAPABILITIES)),
    level="advisory",
)
