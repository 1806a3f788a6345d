"""The table of symptoms: what gateways and clients say finds its cause, and the page for people has every row."""

from __future__ import annotations

import pytest

from operations.symptoms import explain, explain_log


@pytest.mark.parametrize(
    ("symptom", "key"),
    [
        ("expected status 200, got 503: no healthy upstream", "no-healthy-upstream"),
        ("expected status 200, got 504: upstream request timeout", "cut-at-30-seconds"),
        (
            "the stream was cut off after 30.0 s and 81 parts, as GKE's default backend timeout does (504)",
            "cut-at-30-seconds",
        ),
        ("expected status 200, got 404: fault filter abort", "route-unknown"),
        (
            "got 503: upstream connect error or disconnect/reset before headers. reset reason: remote connection "
            "failure, transport failure reason: TLS_error:|268435703:SSL routines:OPENSSL_internal:"
            "WRONG_VERSION_NUMBER",
            "tls-to-plain",
        ),
        ("got 503: upstream connect error or disconnect/reset before headers", "upstream-gone"),
        ("got 426: Upgrade Required", "old-http"),
        ("got 404: The model `x` does not exist.", "model-name"),
        ("no answer: [Errno -2] Name or service not known", "name-resolution"),
        ("no answer: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", "certificate"),
        ("no answer: All connection attempts failed", "refused"),
        ("no answer: ConnectTimeout", "refused"),
        ('got 401: {"error": {"code": "invalid_api_key", "message": "No valid API key or token."}}', "caller-unknown"),
        ('got 403: {"error": {"code": "model_not_allowed"}}', "model-not-allowed"),
        ('got 404: {"error": {"code": "model_not_found"}}', "model-name"),
        ('got 429: {"error": {"code": "rate_limit_exceeded"}}', "limit"),
        ('got 503: {"error": {"code": "model_stopped"}}', "model-stopped"),
        ("got 429: inference pool resource exhausted", "overloaded"),
        ("got 503: failed to find endpoint candidates for serving the request", "no-candidates"),
        ("a completion returns 502: ", "upstream-gone"),
        ("no answer: [Errno 110] Connection timed out", "refused"),
        # Another cause, or no status at all.
        ("got 429: Too Many Requests", None),
        ("got 503: upstream connect error. transport failure reason: TLS_error:|1:OPENSSL_internal:"
         "CERTIFICATE_VERIFY_FAILED", None),
        ("no answer: ReadTimeout", None),
        ("the stream ended without any text after 502 parts and 504 ms", None),
        ("got 400: max_tokens 429 is too large (502 tokens)", None),
        ("asked for model qwen, answered by 'other' in 1504 ms", None),
    ],
)  # fmt: skip
def test_what_is_said_finds_its_cause_or_none(symptom: str, key: str | None) -> None:
    explanation = explain(symptom, "gke")
    assert (explanation and explanation.key) == key


def test_istios_gateway_says_some_of_it_otherwise_or_for_other_reasons() -> None:
    said = ["got 503: no healthy upstream", "got 504: upstream request timeout", "/health returns 404: "]
    found = [one and one.key for one in (explain(text, "istio") for text in said)]
    assert found == ["no-ready-server", "over-the-limit", "no-path"]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("TPU initialization failed: open(/dev/vfio/0): Operation not permitted", "tpu-privileges"),
        ("open(/dev/accel0): Permission denied", "tpu-privileges"),
        ("RLIMIT_MEMLOCK is too low", "tpu-privileges"),
        ("failed to map 2147483648 bytes of /dev/vfio/0", "tpu-privileges"),
        ("RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU", "gpu-driver"),
        ("NVRM: Xid (PCI:0000:00:04): 79, pid='<unknown>', GPU has fallen off the bus.", "gpu-fault"),
        ("torch.AcceleratorError: CUDA error: an illegal memory access was encountered", "gpu-fault"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "hbm"),
        ("UNKNOWN: TPU initialization failed: open(/dev/vfio/0): Device or resource busy", "tpu-busy"),
        ("open(/dev/vfio/0): Device or resource busy; Couldn't open iommu group /dev/vfio/0", "tpu-busy"),
        ("OSError: [Errno 16] Device or resource busy: '/dev/accel0'", "tpu-busy"),
        ("ABORTED: The TPU is already in use by process with pid 7. Not attempting to load libtpu.so", "tpu-busy"),
        ("libtpu.so already in use by another process. Run lsof -w /dev/accel0", "tpu-busy"),
        ("Internal error when accessing libtpu multi-process lockfile. Run rm /tmp/libtpu_lockfile", "tpu-busy"),
        ("RuntimeError: TPU initialization failed: INTERNAL", None),
        ("TPU initialization failed: No ba16c7433 device found.", None),
        ("OSError: [Errno 16] Device or resource busy: '/mnt/models'", None),
        ("ValueError: To serve at least one request with the models's max seq len (262144), (24.0 GiB KV cache is "
         "needed, which is larger than the available KV cache memory (3.18 GiB). Based on the available memory, the "
         "estimated maximum model length is 34736.", "kv-cache"),
        ("ValueError: The model's max seq len (4096) is larger than the maximum number of tokens that can be stored in "
         "KV cache (3664). Try increasing `gpu_memory_utilization`", "kv-cache"),
        ("ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`", "kv-cache"),
        ("XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. "
         "Used 21.95G of 15.48G hbm. Exceeded hbm capacity by 6.47G.", "hbm"),
        ("jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 1.5G",
         "hbm"),
        ("vllm: error: unrecognized arguments: --prefix-cache-block-size=16", "unknown-argument"),
        ("huggingface_hub.errors.GatedRepoError: 401 Client Error. Cannot access gated repo for url https://x",
         "gated-model"),
        ("RepositoryNotFoundError: 401 Client Error. Repository Not Found for url: https://huggingface.co/api/models/x",
         "model-unknown"),
        ("api_server.py: error: argument --dtype: invalid choice: 'x'", "unknown-argument"),
        ("TypeError: Error: --enable-auto-tool-choice requires --tool-call-parser", "unknown-argument"),
        ("KeyError: 'invalid tool call parser: qwen3 (chose from { hermes })'", "unknown-argument"),
        ("RuntimeError: Failed to infer device type, please set the environment variable", "image-hardware"),
        ("ValueError: bitsandbytes quantization is currently not supported in tpu.", "format"),
        ("ValueError: Total number of attention heads (28) must be divisible by tensor parallel size (8).", "heads"),
        ("ValueError: Model architectures ['X'] are not supported for now. Supported: [...]", "architecture"),
        ("ValueError: Call to add_lora method failed: Worker failed with error 'LoRA rank 64 is greater than "
         "max_lora_rank 16.', please check the stack trace above for the root cause", "adapter-rank"),
        ("ValueError: Call to add_lora method failed: Worker failed with error 'The size of tensor a (128) must match "
         "the size of tensor b (256) at non-singleton dimension 1', please check", "adapter-model"),
        ("OSError: [Errno 28] No space left on device", "disk-full"),
        ("OSError: You are trying to access a gated repo. Make sure to have access to it", "gated-model"),
        ("PermissionError: [Errno 13] Permission denied: '/dev/accel0'", "tpu-privileges"),
        ("Failed to open /dev/vfio/vfio: Permission denied", "tpu-privileges"),
        ("PermissionError: [Errno 13] Permission denied: '/mnt/models'", None),
        ("OSError: libtpu.so: cannot open shared object file", None),
        ("RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space vmem.", None),
        ("User specified max_model_len (9) is greater than the derived max_model_len (8)", None),
        ("INFO GPU KV cache size: 230,528 tokens", None),
        ("storage-initializer OOMKilled", None),  # in a log; the container and its reason precede it
        ("download timed out, 502 from huggingface.co", None),
    ],
)  # fmt: skip
def test_a_servers_log_says_why_it_ended(line: str, key: str | None) -> None:
    explanation = explain_log(f"main Error\nINFO starting\n{line}\n")
    assert (explanation and explanation.key) == key
