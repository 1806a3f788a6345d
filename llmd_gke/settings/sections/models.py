"""Served models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from llmd_gke.catalog import models, versions
from llmd_gke.rules.tpu_pods import MINIMUM_STARTUP_MINUTES
from llmd_gke.settings.sections.base import Shape, Word
from llmd_gke.settings.sections.scheduler import SchedulerSettings


def bucket_of(uri: str) -> str | None:
    """The bucket of a ``gs://`` URI."""
    return uri.removeprefix("gs://").split("/")[0] if uri.startswith("gs://") else None


class VariableSettings(Shape):
    """One environment variable of the server: its ``value``, or a ``key`` of a Secret of the model's namespace.

    The Secret is not made by the program.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
    """Letters, digits and underscores."""
    value: str | None = None
    """Plain text, readable by everybody who reads the repository: no password."""
    secret: str | None = None
    """Name of a Secret, with ``key``, instead of ``value``."""
    key: str | None = None
    """Key in that Secret."""


class ModelSettings(Shape):
    """A served model.

    ``extra_args`` go to the server behind those that settings write. ``image`` is the server's; its tag must not move.
    ``gated``: the weights are behind a licence gate (default: by a table of models, else by the owner).

    ``pool`` names the TPU pool. ``tensor_parallel`` follows the pool unless given. ``experimental_multi_host`` lets the
    model run on a pool whose slice has several hosts, see ``docs/models.md``; only there ``pipeline_parallel`` (default
    1) may split its layers into stages: both multiplied are the chips of the slice. ``served_model_name`` is what
    clients send (default: ``name``). ``startup_minutes`` bounds image pull, download and XLA compilation (default: by
    the size of the weights); ``request_timeout_seconds`` replaces GKE's 30 s, which cut long generations. ``at_root``
    serves the model at ``/`` as well as at ``/NAMESPACE/NAME``.

    ``uri``: ``hf://OWNER/NAME``, ``oci://IMAGE``, ``s3://…``, ``pvc://CLAIM/PATH``, or ``gs://BUCKET/PATH``, which is
    mounted (read-only) by Cloud Storage FUSE. ``compile_cache``: a bucket (``gs://…``) that keeps compiled graphs for
    all pods to come; without it each pod compiles once. ``private_image``: the image needs the secret
    ``llmd-gke:pullSecret``. ``stopped`` takes pods, TPU nodes and routes away and keeps the settings.
    ``drain_seconds``: how long running requests may finish when a pod goes. ``warm_up``: a pod is ready only after its
    first completion (switch it off for models that complete nothing, e.g. embeddings). ``scheduler``: how requests are
    spread over the replicas.
    """

    name: str
    """Lower-case letters, digits and hyphens, at most 38 characters; part of the URL."""
    namespace: str = "models"
    """Kubernetes namespace, made by the program; part of the URL."""
    uri: Word
    """Where the weights are, e.g. ``hf://OWNER/NAME``."""
    pool: str
    replicas: Annotated[int, Field(ge=1, le=1000)] = 1
    """Servers of this model; each takes one slice of the pool."""
    served_model_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$")] | None = None
    tensor_parallel: Annotated[int, Field(ge=1)] | None = None
    pipeline_parallel: Annotated[int, Field(ge=1)] | None = None
    experimental_multi_host: bool = False
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
    env: tuple[VariableSettings, ...] = Field(default=(), strict=False)
    """Environment variables of the server, e.g. ``VLLM_*`` and ``LIBTPU_INIT_ARGS`` of tpu-inference."""
    image: Word = Field(default_factory=lambda: versions.image("vllm-tpu"))
    private_image: bool = False
    gated: bool | None = None
    startup_minutes: Annotated[int, Field(ge=MINIMUM_STARTUP_MINUTES, le=180)] | None = None
    drain_seconds: Annotated[int, Field(ge=0, le=3600)] = 60
    warm_up: bool = True
    compile_cache: Word | None = None
    scheduler: SchedulerSettings = Field(default_factory=SchedulerSettings)
    stopped: bool = False
    wait_for: Literal["ready", "workloads"] = "ready"
    """What an update waits for: the whole service, or only its pods, for a GKE whose InferencePool status KServe cannot
    read. ``llmd-gke smoke`` is the proof then."""
    capabilities: tuple[str, ...] = Field(default=(), strict=False)
    """Linux capabilities that the server's container gets back after all were dropped, e.g. ``SYS_RESOURCE``."""
    privileged: bool = False
    """Run the server's container privileged; for a TPU image that cannot open its devices otherwise."""
    max_rate_per_endpoint: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    """Requests per second that the load balancer counts a pod as full at (default: Google's, 100 million)."""
    request_timeout_seconds: Annotated[int, Field(ge=1, le=86400)] = 600
    at_root: bool = False
    paths: tuple[str, ...] = Field(default=(), strict=False)
    """Paths of the server that the gateway passes on beside the usual ones (``docs/edge.md``), each with everything
    below it, e.g. ``/v1/score``."""

    @property
    def needs_token(self) -> bool:
        """Whether the weights are behind a licence gate, so that ``llmd-gke:hfToken`` is needed."""
        return models.is_gated(self.uri) if self.gated is None else self.gated

    @property
    def startup_budget(self) -> int:
        """Minutes from the pod's start until the server must answer."""
        return models.startup_minutes(self.uri) if self.startup_minutes is None else self.startup_minutes

    @property
    def weights_bucket(self) -> str | None:
        """The bucket the weights are mounted from."""
        return bucket_of(self.uri)

    @property
    def cache_bucket(self) -> str | None:
        """The bucket that keeps compiled graphs."""
        return None if self.compile_cache is None else bucket_of(self.compile_cache)

    @property
    def uses_buckets(self) -> bool:
        """Whether its pods need an identity of their own for a bucket."""
        return self.weights_bucket is not None or self.cache_bucket is not None

    @property
    def running_replicas(self) -> int:
        """Replicas that hold TPU nodes."""
        return 0 if self.stopped else self.replicas

    @property
    def served_name(self) -> str:
        """What clients send as ``model``."""
        return self.served_model_name or self.name

    @property
    def path(self) -> str:
        """Where the gateway serves the model."""
        return f"/{self.namespace}/{self.name}"
