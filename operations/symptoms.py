"""Symptoms that clients or operators observe, their meaning on this stack, and the command to run next.

One table for ``smoke``, ``status`` and ``docs/troubleshooting.md``. Sources: GKE's load balancer answers
(https://cloud.google.com/load-balancing/docs/https/troubleshooting-ext-https-lbs), Envoy's response flags, vLLM's,
libtpu's and KServe's messages, the front door's own errors, and the log of a first
deployment (docs/contributing/incidents.md).
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass

from llmd_gke.google_errors.page import table


@dataclass(frozen=True)
class Symptom:
    """``sign``: a regular expression for the symptom; ``shown``: its text for readers; ``command`` may use
    ``{stack}``; ``gateway``: at a Gateway of which class, as in the settings (default: any).
    """

    key: str
    sign: str
    shown: str
    cause: str
    command: str
    gateway: str | None = None


STATUS = "llmd-gke status --stack {stack}"
LOGS = "kubectl -n models logs POD -c main --previous"


def _status(code: int) -> str:
    """A sign for an HTTP status, which is no other number of the same digits."""
    return rf"\b(got|returns|status|HTTP(/[\d.]+)?):? {code}\b|\({code}\)"


CLIENTS = (
    Symptom(
        "caller-unknown",
        r"\binvalid_api_key\b",
        "401 `invalid_api_key`",
        "the front door does not know the key or token: it is missing, misspelt, revoked, or newer than the last "
        "`pulumi up`",
        "llmd-gke key rotate CALLER --stack {stack}",
    ),
    Symptom(
        "model-not-allowed",
        r"\bmodel_not_allowed\b",
        "403 `model_not_allowed`",
        "the caller's `models` in the stack file do not list this model: add it",
        "pulumi up --stack {stack}",
    ),
    Symptom(
        "model-stopped",
        r"\bmodel_stopped\b",
        "503 `model_stopped`",
        "the model has `stopped: true` in the stack file",
        "llmd-gke start --stack {stack} --model MODEL",
    ),
    Symptom(
        "limit",
        r"\brate_limit_exceeded\b",
        "429 `rate_limit_exceeded`",
        "a limit of the caller is reached (the headers `x-ratelimit-*` tell which), or the model is saturated",
        "llmd-gke usage --stack {stack}",
    ),
    Symptom(
        "no-candidates",
        r"failed to find endpoint candidates|no (ready )?(endpoints|pods) available in the pool",
        "503 `failed to find endpoint candidates`",
        "the endpoint picker knows no ready replica: the model starts, is idle, or its pods fail",
        STATUS,
    ),
    Symptom(
        "no-healthy-upstream",
        r"no healthy upstream",
        "503 `no healthy upstream`",
        "no pod is healthy for Google's load balancer: still starting, or its health check requests the wrong path",
        STATUS,
        "gke",
    ),
    Symptom(
        "no-ready-server",
        r"no healthy upstream",
        "503 `no healthy upstream`, at Istio's Gateway",
        "no pod of the model is ready: it starts, is idle, or its pods fail",
        STATUS,
        "istio",
    ),
    Symptom(
        "cut-at-30-seconds",
        rf"upstream request timeout|stream timeout|{_status(504)}",
        "504 `upstream request timeout`, or an answer that breaks off after 30 s",
        "GKE's default backend timeout: no GCPBackendPolicy is attached to the InferencePool",
        "kubectl -n models get gcpbackendpolicy -o yaml",
        "gke",
    ),
    Symptom(
        "over-the-limit",
        r"upstream request timeout",
        "504 `upstream request timeout`, at Istio's Gateway",
        "the answer took longer than the model's `requestTimeoutSeconds`, which its route has as `timeouts`: raise it",
        "pulumi up --stack {stack}",
        "istio",
    ),
    Symptom(
        "route-unknown",
        r"fault filter abort|response 404 \(backend NotFound\)",
        "404 `fault filter abort`",
        "the gateway has no route for that path: the HTTPRoute is not accepted, or the URL belongs to another "
        "model or gateway",
        STATUS,
    ),
    Symptom(
        "no-path",
        rf"({_status(404)}):?\s*$",
        "404 without a body, at Istio's Gateway",
        "the gateway has no route for that path, as where GKE's says `fault filter abort`",
        STATUS,
        "istio",
    ),
    Symptom(
        "tls-to-plain",
        r"WRONG_VERSION_NUMBER",
        "503 with `TLS_error … WRONG_VERSION_NUMBER`",
        "the gateway uses HTTPS for a server that uses HTTP: KServe is older than 0.20, or its TLS is enabled",
        "pulumi preview --stack {stack} --policy-pack policies",
    ),
    Symptom(
        "upstream-gone",
        rf"upstream connect error(?!.*TLS_error)|connection termination|{_status(502)}",
        "502, or `upstream connect error or disconnect`",
        "the server closed the connection: its pod is restarting, or a NetworkPolicy blocks the gateway",
        STATUS,
    ),
    Symptom(
        "old-http",
        rf"{_status(426)}|Upgrade Required",
        "426 Upgrade Required",
        "the client uses HTTP/1.0 (as Apache Bench does), which the gateway rejects",
        "llmd-gke bench --stack {stack}",
    ),
    Symptom(
        "model-name",
        r"model .{0,120}does not exist|\bmodel_not_found\b",
        "404 `The model … does not exist`, `model_not_found`",
        "the request's `model` is not a name that the server serves; the outputs show it as `servedModelName`",
        "pulumi stack output models --stack {stack}",
    ),
    Symptom(
        "overloaded",
        r"InferencePoolResourceExhausted|inference pool resource exhausted|system saturated",
        "429 `inference pool resource exhausted`",
        "the endpoint picker considers every replica saturated",
        STATUS,
    ),
    Symptom(
        "name-resolution",
        r"Name or service not known|nodename nor servname|Temporary failure in name resolution|getaddrinfo",
        "the domain does not resolve",
        "no DNS record points to the gateway's address yet",
        "pulumi stack output gatewayIp --stack {stack}",
    ),
    Symptom(
        "certificate",
        r"(?<!OPENSSL_internal:)CERTIFICATE_VERIFY_FAILED",
        "a certificate that is not trusted",
        "the certificate is not issued yet, is for another name, or this machine does not trust its certificate "
        "authority (`--ca FILE`)",
        STATUS,
    ),
    Symptom(
        "refused",
        r"Connection refused|All connection attempts failed|No route to host|Network is unreachable|ConnectTimeout|"
        r"connect(ion)? timed out",
        "nothing answers at the address",
        "the gateway is not programmed yet, or it is internal and this machine is outside its network",
        STATUS,
    ),
)

NO_CHIPS = Symptom(
    "no-chips",
    r"(google\.com/tpu|nvidia\.com/gpu): 0\b",
    "a node is Ready with `google.com/tpu: 0` or `nvidia.com/gpu: 0`",
    "the node's device plugin has not registered its chips yet, which needs GKE's driver on GPU hosts; if that lasts, "
    "delete the plugin's pod (`tpu-device-plugin-…`, `nvidia-gpu-device-plugin-…`), then the node's virtual machine, "
    "which GKE replaces",
    "kubectl -n kube-system get pods -o wide --field-selector spec.nodeName=NODE",
)
PODS = (
    Symptom(
        "tpu-busy",
        r"/dev/(vfio|accel).{0,80}(resource busy|EBUSY)|resource busy.{0,80}/dev/(vfio|accel)|"
        r"(TPU|libtpu\.so) (is )?already in use|libtpu multi-process lockfile",
        "`open(/dev/vfio/…): Device or resource busy`, `The TPU is already in use by …`",
        "another process holds the chips: an older server that has not ended, a second one on the host, or a host that "
        "did not release them",
        "kubectl get pods -A -o wide --field-selector spec.nodeName=NODE",
    ),
    Symptom(
        "tpu-privileges",
        r"/dev/(vfio|accel).{0,80}(permission denied|not permitted)|permission denied: '/dev/(vfio|accel)|"
        r"RLIMIT_MEMLOCK|failed to map .{0,80}/dev/(vfio|accel)",
        "`open(/dev/vfio/…): Operation not permitted`, `RLIMIT_MEMLOCK`",
        "the container may not open or lock what the TPU driver needs: give that model `capabilities`, or `privileged`",
        "kubectl -n models logs POD -c main",
    ),
    Symptom(
        "gpu-driver",
        r"Found no NVIDIA driver|CUDA driver version is insufficient|libcuda\.so\.1: cannot open|"
        r"NVIDIA driver .{0,40}too old",
        "`Found no NVIDIA driver on your system`, `CUDA driver version is insufficient`",
        "the node has no driver, or one that is older than the image's CUDA: delete the node's virtual machine, and "
        "GKE replaces it with one that has the newest driver",
        "kubectl -n kube-system get pods -o wide --field-selector spec.nodeName=NODE",
    ),
    Symptom(
        "gpu-fault",
        r"\bXid\b|uncorrectable ECC|CUDA error: (an illegal memory access|unspecified launch failure|unknown error)|"
        r"fallen off the bus",
        "`NVRM: Xid …`, `CUDA error: uncorrectable ECC error encountered`",
        "the GPU or its driver failed (the number after Xid says how): delete the node's virtual machine, which GKE "
        "replaces",
        "kubectl describe node NODE",
    ),
    Symptom(
        "kv-cache",
        r"larger than the (available KV cache memory|maximum number of tokens that can be stored in KV cache)|"
        r"No available memory for the cache blocks",
        "`… KV cache is needed, which is larger than the available KV cache memory`",
        "beside the weights the chips have no memory for one request of `maxModelLen` tokens: lower it (the message "
        "may name the largest), or use a larger slice",
        LOGS,
    ),
    Symptom(
        "hbm",
        r"out of memory in memory space hbm|Exceeded hbm capacity|RESOURCE_EXHAUSTED: .{0,80}allocat|"
        r"CUDA out of memory",
        "`RESOURCE_EXHAUSTED: … Ran out of memory in memory space hbm`, `CUDA out of memory`",
        "weights, KV cache and activations need more memory than the chips have: lower `maxModelLen`, `maxNumSeqs` or "
        "`maxNumBatchedTokens`, or use a larger slice",
        LOGS,
    ),
    Symptom(
        "unknown-argument",
        r"error: (unrecognized arguments|argument --\S+: (invalid|expected))|requires --tool-call-parser|"
        r"invalid (tool call|reasoning) parser",
        "`unrecognized arguments: --…`, `argument --…: invalid choice`, `… requires --tool-call-parser`",
        "the server does not know an argument, for example `--prefix-cache-block-size`, or its value: correct "
        "`extraArgs`",
        "pulumi preview --stack {stack} --policy-pack policies",
    ),
    Symptom(
        "image-hardware",
        r"Failed to infer device type",
        "`Failed to infer device type`",
        "the image is built for other hardware than the pod has: remove `image`, or use one for the pool's accelerator",
        "pulumi preview --stack {stack} --policy-pack policies",
    ),
    Symptom(
        "format",
        r"quantization is currently not supported in|Unknown quantization method",
        "`… quantization is currently not supported in …`",
        "the accelerator does not load the format of these weights: use unquantized ones, or another format",
        LOGS,
    ),
    Symptom(
        "heads",
        r"attention heads .{0,40}must be divisible by tensor parallel size",
        "`Total number of attention heads (…) must be divisible by tensor parallel size (…)`",
        "the model cannot be split over this number of chips: set `tensorParallel` to a divisor of its heads, on a "
        "slice of as many chips",
        LOGS,
    ),
    Symptom(
        "architecture",
        r"Model architectures? .{0,120}(is|are) not supported",
        "`Model architectures […] are not supported`",
        "this version of the server does not know this kind of model: use another model, or an image that does",
        LOGS,
    ),
    Symptom(
        "adapter-rank",
        r"LoRA rank \d+ is greater than max_lora_rank",
        "`LoRA rank … is greater than max_lora_rank …`",
        "an adapter's rank (`r` in its `adapter_config.json`) is above the servers' largest, 16 unless set: raise "
        "`adapterRank` of the model",
        "pulumi up --stack {stack}",
    ),
    Symptom(
        "adapter-model",
        r"Call to add_lora method failed|While loading .{0,300}expected target modules",
        "`Call to add_lora method failed: …`",
        "an adapter does not fit the model, or cannot be read: it was made for another one; correct its `uri`",
        "pulumi up --stack {stack}",
    ),
    Symptom(
        "disk-full",
        r"No space left on device",
        "`No space left on device`",
        "the node's disk has no room for image and weights: raise `diskGb` of the pool, or mount the weights from a "
        "bucket (a `gs://` URI)",
        "kubectl describe node NODE",
    ),
    Symptom(
        "download-memory",
        r"\Astorage-initializer OOMKilled",
        "the container `storage-initializer` is `OOMKilled`",
        "the download of an `hf://` model needs more memory than the container may use (16 GiB): copy the weights to a "
        "bucket and use its `gs://` URI, which is mounted instead of downloaded",
        "kubectl -n models logs POD -c storage-initializer --previous",
    ),
    Symptom(
        "gated-model",
        r"GatedRepoError|\bgated repo\b|Access to model .{0,200}is restricted",
        "`Cannot access gated repo`, `Access to model … is restricted`",
        "the stack has no Hugging Face token, or its account has not accepted the model's licence",
        "pulumi config set --secret llmd-gke:hfToken --stack {stack}",
    ),
    Symptom(
        "model-unknown",
        r"RepositoryNotFoundError|Repository Not Found for url|RevisionNotFoundError",
        "`Repository Not Found for url: https://huggingface.co/…`",
        "Hugging Face has no such model or revision, or the stack's token may not see it: check `uri`",
        "pulumi preview --stack {stack}",
    ),
    NO_CHIPS,
)
"""Of pods, nodes and the ends of servers' logs, in which the signs of clients have another meaning."""


def explain_log(text: str) -> Symptom | None:
    """The first symptom of pods and nodes whose sign is in the text, the end of a server's log."""
    return next((one for one in PODS if re.search(one.sign, text, re.IGNORECASE)), None)


def explain(text: str, gateway: str) -> Symptom | None:
    """The first symptom whose sign is in a text that a client got, at a Gateway of this class."""
    there = (one for one in CLIENTS if one.gateway in (None, gateway))
    return next((one for one in there if re.search(one.sign, text, re.IGNORECASE)), None)


if __name__ == "__main__":  # `client` or `pod`: prints that table of docs/troubleshooting.md
    print(table((one.shown, one.cause, f"`{one.command}`") for one in {"client": CLIENTS, "pod": PODS}[sys.argv[1]]))
