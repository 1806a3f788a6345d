"""Rules about the environment of a model server.

Sources: vllm-project/vllm ``vllm/envs.py``; vllm-project/tpu-inference ``tpu_inference/envs.py`` and
``tpu_inference/platforms/tpu_platform.py`` @b8692ff01; kubernetes-sigs/lws ``pkg/utils/accelerators/tpu.go`` v0.9.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from llmd_gke.catalog.accelerators import DEFAULT, Accelerator
from llmd_gke.gateways import gke
from llmd_gke.rules import secret_texts
from llmd_gke.rules.finding import Finding

RULE = "server-environment"

MAX_N = "VLLM_MAX_N_SEQUENCES"
"""Maximum number of answers that one request may ask for (``n``), each of which is a sequence of the server. vLLM's own
limit of 16384 lets one request fill the server and its queue; a replica with a long queue makes the endpoint picker
hold the requests of all callers, whatever their priority. 8 is a thirtieth of the 256 sequences that vLLM runs at
once by default, and enough for the usual uses of ``n`` (votes over several answers)."""

KEEP_ALIVE = "VLLM_HTTP_TIMEOUT_KEEP_ALIVE"
KEEP_ALIVE_SECONDS = gke.KEEP_ALIVE_SECONDS + 30
"""Seconds for which the server keeps an idle connection. vLLM's own 5 are shorter than those of what is in front of it:
then requests meet a connection that is being closed (vllm-project/vllm#18472)."""

DEFAULTS: Mapping[str, str] = {MAX_N: "8", KEEP_ALIVE: str(KEEP_ALIVE_SECONDS)}
"""Variables of every server, unless the settings give them another value."""

REFUSED: Mapping[str, str] = {
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "any client could then load weights of its choice into the server",
    "VLLM_SERVER_DEV_MODE": "it enables paths that pause and reset the server",
    "VLLM_ALLOW_INSECURE_SERIALIZATION": "it lets the server run code that clients send",
}
"""Variables that give anyone who can reach the server more than inference."""

OWNED: Mapping[str, str] = {
    "VLLM_HOST_IP": "the program sets it for models that span hosts",
    "VLLM_PORT": "the port is always 8000",
    "HF_TOKEN": "set the secret llmd-gke:hfToken",
    "VLLM_ADDITIONAL_ARGS": "set extraArgs",
}
"""Variables that a setting or the program writes, on every accelerator."""


def opens_the_server(name: str) -> Iterator[Finding]:
    """A variable that gives whoever reaches the server more than inference."""
    if name in REFUSED:
        yield Finding(RULE, f"{name}: {REFUSED[name]}", fix=f"remove {name}")


def variable(
    name: str, value: str | None, secret: str | None, key: str | None, kind: Accelerator = DEFAULT
) -> Iterator[Finding]:
    """One variable of the settings."""
    yield from opens_the_server(name)
    owned = {**OWNED, **kind.owned_variables}
    if name in owned:
        yield Finding(RULE, f"{name} must not be set here: {owned[name]}", fix=f"remove {name}")
    if name == KEEP_ALIVE:
        yield from keeps_connections(value)
    if kind.foreign_variables.match(name):
        yield Finding(RULE, f"{name} {kind.foreign_variables_are}", fix=f"remove {name}")
    if kind.platform_variables.match(name):
        yield Finding(RULE, f"{name} must not be set: GKE or LeaderWorkerSet sets it", fix=f"remove {name}")
    if (allowed := kind.broken_values.get((name, value or ""))) is not None:
        yield Finding(RULE, f"{name} {value} breaks model loading", allowed=allowed, fix=f"remove {name}")
    if (value is None) == (secret is None) or (secret is None) != (key is None):
        yield Finding(
            RULE,
            f"{name} has neither a value nor a complete Secret reference",
            allowed="value, or secret and key",
            fix=f"{{name: {name}, secret: NAME, key: KEY}}",
        )
    elif value is not None and name not in owned and (secret_texts.is_name(name) or secret_texts.has_shape(value)):
        yield Finding(
            RULE,
            f"{name} looks like a secret, and its value is in plain text",
            allowed="secret and key",
            fix="store it in a Secret in the model's namespace, and set secret and key instead of value",
        )


def keeps_connections(value: str | None) -> Iterator[Finding]:
    """The server keeps idle connections longer than the load balancer. ``value``: ``None`` if it is in a Secret."""
    shortest = gke.KEEP_ALIVE_SECONDS
    if value is None or not value.isdecimal() or int(value) <= shortest:
        yield Finding(
            RULE,
            f"{KEEP_ALIVE} {value or 'from a Secret'}: the load balancer keeps idle connections for {shortest} s, and "
            "loses requests on those that the server closes first",
            allowed=f"a whole number of more than {shortest}",
            fix=f"remove {KEEP_ALIVE} (default: {KEEP_ALIVE_SECONDS})",
        )


def twice(names: Sequence[str]) -> Iterator[Finding]:
    """No variable is set twice: Kubernetes uses the last value."""
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Finding(RULE, f"{name} is set more than once", fix=f"keep one entry for {name}")
