"""Paths of vLLM's HTTP server: those that the gateway forwards, and those that it must not.

Sources: vllm-project/vllm ``vllm/entrypoints/openai/api_server.py`` and ``vllm/entrypoints/serve`` (paths);
kubernetes-sigs/gateway-api v1.6.1 ``apis/v1/httproute_types.go`` (``MaxItems`` of rules).
"""

from __future__ import annotations

INFERENCE = ("/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses")
"""Paths that are routed to the InferencePool: the endpoint picker chooses the replica."""

LISTING = ("/v1/models", "/health")
"""Paths that any replica can answer: they are routed to the workload Service, bypassing the endpoint picker."""

SERVED = (*INFERENCE, *LISTING)
"""Paths that the route of every model forwards. Other paths need the setting ``paths``."""

ROUTE_RULES = 16

INTERNAL = (
    "/metrics",
    "/load",
    "/version",
    "/server_info",
    "/docs",
    "/redoc",
    "/openapi.json",
    "/tokenizer_info",
    "/invocations",
    "/pause",
    "/resume",
    "/is_paused",
    "/sleep",
    "/wake_up",
    "/is_sleeping",
    "/reset_prefix_cache",
    "/reset_mm_cache",
    "/reset_encoder_cache",
    "/collective_rpc",
    "/scale_elastic_ep",
    "/start_profile",
    "/stop_profile",
    "/abort_requests",
    "/update_weights",
    "/v1/load_lora_adapter",
    "/v1/unload_lora_adapter",
)
"""Paths that reveal other clients' use, describe the server, change it, or (``/invocations``) bypass this list."""
