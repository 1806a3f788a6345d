"""Served models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from llmd_gke.catalog import models, versions
from llmd_gke.checks.tpu_pods import MINIMUM_STARTUP_MINUTES
from llmd_gke.settings.shapes.base import Shape


class ModelSettings(Shape):
    """A served model.

    ``extra_args`` go to the server behind those that settings write. ``image`` is the server's; its tag must not move.
    ``gated``: the weights are behind a licence gate (default: by a table of models, else by the owner).

    ``pool`` names the TPU pool. ``tensor_parallel`` follows the pool unless given. ``served_model_name`` is what
    clients send (default: ``name``). ``startup_minutes`` bounds image pull, download and XLA compilation;
    ``request_timeout_seconds`` replaces GKE's 30 s, which cut long generations. ``at_root`` serves the model at ``/``
    as well as at ``/NAMESPACE/NAME``.
    """

    name: str
    """Lower-case letters, digits and hyphens, at most 38 characters; part of the URL."""
    namespace: str = "models"
    """Kubernetes namespace, made by the program; part of the URL."""
    uri: str
    """Where the weights are, e.g. ``hf://OWNER/NAME``."""
    pool: str
    replicas: Annotated[int, Field(ge=1, le=1000)] = 1
    """Servers of this model; each takes one slice of the pool."""
    served_model_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$")] | None = None
    tensor_parallel: Annotated[int, Field(ge=1)] | None = None
    prefix_caching: bool = True
    """Keep the KV cache of prompts, and route requests to the replica that has their prefix."""
    max_model_len: Annotated[int, Field(ge=1)] | None = None
    """Most tokens of a prompt and its answer (default: the model's own limit)."""
    max_num_seqs: Annotated[int, Field(ge=1)] | None = None
    """Most requests that one server works on at a time."""
    max_num_batched_tokens: Annotated[int, Field(ge=1)] | None = None
    """Most tokens of one step of the server."""
    dtype: Literal["auto", "bfloat16"] = "auto"
    """Data type of the weights; TPUs have no float16."""
    extra_args: tuple[str, ...] = Field(default=(), strict=False)
    image: str = Field(default_factory=lambda: versions.image("vllm-tpu"))
    gated: bool | None = None
    startup_minutes: Annotated[int, Field(ge=MINIMUM_STARTUP_MINUTES, le=180)] = 30
    request_timeout_seconds: Annotated[int, Field(ge=1, le=86400)] = 600
    at_root: bool = False

    @property
    def needs_token(self) -> bool:
        """Whether the weights are behind a licence gate, so that ``llmd-gke:hfToken`` is needed."""
        return models.is_gated(self.uri) if self.gated is None else self.gated

    @property
    def served_name(self) -> str:
        """What clients send as ``model``."""
        return self.served_model_name or self.name

    @property
    def path(self) -> str:
        """Where the gateway serves the model."""
        return f"/{self.namespace}/{self.name}"
