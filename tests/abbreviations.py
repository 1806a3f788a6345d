"""Arguments of ``vllm serve`` in spellings that its parser completes or converts, for tests of every reader."""

from __future__ import annotations

from llmd_gke.catalog.front_door import UNFORCED_USAGE

SPELLINGS: dict[str, tuple[str, ...]] = {
    "--port": ("--por 8001", "--por=8001"),
    "--host": ("--hos 127.0.0.1",),
    "--served-model-name": ("--served-model x", "--served_model x", "--serv=x"),
    "--tensor-parallel-size": ("--tensor-parallel 8", "--tensor_par=8", "-t 8"),
    "--max-model-len": ("--max-model-le 9", "--max_m=9"),
    "--api-key": ("--api-ke abcdef", "--api_k=abcdef"),
    "--hf-token": ("--hf-toke abcdef", "--hf_t=abcdef"),
    "--shutdown-timeout": ("--shut 0", "--shutdown_time=0"),
    "--lora-modules": ("--lora-module sql=/x", "--lora_m=sql=/x"),
    "--no-enable-prefix-caching": ("--no-enable-prefix", "--no_enable_pre"),
    UNFORCED_USAGE: ("--no-enable-force", "--no_enable_fo"),
    "--quantization": ("--quant awq", "--quantizatio=awq", "-qawq"),
    "--kv-transfer-config": (
        '--kv-transfer {"kv_connector":"NixlConnector"}',
        "--kv_transfer.kv_connector=NixlConnector",
        "--kv-transfer-config.kv_connector NixlConnector",
    ),
    "--distributed-executor-backend": ("--distributed-exec ray",),
    "--trust-remote-code": ("--trust-remote",),
    "--otlp-traces-endpoint": ("--otlp http://x:4317",),
}
"""The name by which the server knows an argument, and ways to write it; a space separates two entries."""

VARIANTS = tuple((name, argv.split()) for name, spellings in SPELLINGS.items() for argv in spellings)
