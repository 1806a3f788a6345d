"""Served models."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr

from llmd_gke.catalog import kserve, models, versions
from llmd_gke.catalog.accelerators import DEFAULT
from llmd_gke.gateways import gke
from llmd_gke.rules import callers
from llmd_gke.settings.sections.adapters import AdapterSettings, Rank
from llmd_gke.settings.sections.base import Section, Word
from llmd_gke.settings.sections.objectives import ObjectivesSettings
from llmd_gke.settings.sections.scaling import ScalingSettings, ScheduleSettings
from llmd_gke.settings.sections.scheduler import SchedulerSettings
from llmd_gke.settings.sections.variables import VariableSettings
from llmd_gke.settings.sections.versions import Release, RolloutSettings, VersionSettings, releases


class ModelSettings(Section):
    """A served model."""

    name: str
    """Name of the model: lower-case letters, digits and hyphens, at most 38 characters; part of the URL."""
    namespace: str = "models"
    """Kubernetes namespace, which the program creates; part of the URL (default: ``models``)."""
    uri: Word
    """Where the weights are: ``hf://OWNER/NAME``, ``oci://IMAGE``, ``s3://BUCKET/PATH``, ``pvc://CLAIM/PATH``, or
    ``gs://BUCKET/PATH``, which Cloud Storage FUSE mounts read-only."""
    pool: str
    """Name of the pool in ``pools`` that the model runs on."""
    replicas: Annotated[int, Field(ge=1, le=1000)] = 1
    """Number of servers (default: 1); each uses one slice of the pool. To run none, set ``stopped``. Not together with
    ``minReplicas`` and ``maxReplicas``."""
    min_replicas: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Fewest servers of a model whose number follows its load; set it with ``maxReplicas``, instead of ``replicas``."""
    max_replicas: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Most servers of such a model; only with ``minReplicas``. The pool needs a host for each, and one for updates."""
    scaling: ScalingSettings | None = None
    """When servers are added and removed (default: thresholds and pace for TPU hosts); only with ``maxReplicas``."""
    schedule: ScheduleSettings | None = None
    """Hours within which there are at least ``minReplicas`` servers; outside of them there are none once the model is
    idle (default: always); only with ``maxReplicas``."""
    served_model_name: Annotated[str, Field(pattern=callers.SERVED_NAME)] | None = None
    """What clients send as ``model`` (default: ``name``)."""
    tensor_parallel: Annotated[int, Field(ge=1)] | None = None
    """Devices that share one layer (default: all devices of the slice, divided by other parallelisms in
    ``extra_args``). A chip of tpu7x is two devices, of other families one."""
    pipeline_parallel: Annotated[int, Field(ge=1)] | None = None
    """Pipeline stages: the slice's hosts (default: 1); stages times ``tensor_parallel`` must equal the slice's devices.
    Multi-host only."""
    experimental_multi_host: bool = False
    """Allow the model to run on a slice with several hosts, see ``docs/multi-host.md`` (default: false)."""
    prefix_caching: bool = True
    """Reuse the KV cache of equal prompt prefixes, and route requests to the replica that has their prefix (default:
    true)."""
    max_model_len: Annotated[int, Field(ge=1)] | None = None
    """Maximum number of tokens in a prompt and its answer together (default: the model's own limit)."""
    max_num_seqs: Annotated[int, Field(ge=1)] | None = None
    """Maximum number of requests that one server processes at the same time (default: vLLM's)."""
    max_num_batched_tokens: Annotated[int, Field(ge=1)] | None = None
    """Maximum number of tokens that the server processes in one step (default: vLLM's)."""
    dtype: Literal["auto", "bfloat16", "float16"] = "auto"
    """Data type of the weights (default: ``auto``); TPUs have no float16, T4 has no bfloat16."""
    adapters: tuple[AdapterSettings, ...] = Field(default=(), strict=False)
    """LoRA adapters that the servers load beside the weights (default: none)."""
    adapter_rank: Rank | None = None
    """Highest rank of the adapters (default: vLLM's, 16)."""
    extra_args: tuple[str, ...] = Field(default=(), strict=False)
    """Further arguments for vLLM, not abbreviated: ``--flag=value``, or flag and value as two entries (default:
    none)."""
    env: tuple[VariableSettings, ...] = Field(default=(), strict=False)
    """Environment variables of the server, e.g. ``VLLM_*`` and ``LIBTPU_INIT_ARGS`` (default: none)."""
    image: Word = Field(default_factory=lambda: versions.image(DEFAULT.image))
    """Container image of the server, with a fixed tag or a digest (default: the tested vLLM image for the
    pool's accelerator)."""
    private_image: bool = False
    """Pull the image with the stack's secret ``llmd-gke:pullSecret``, a ``.dockerconfigjson`` (default: false)."""
    gated: bool | None = None
    """Whether the weights require an accepted licence and thus the secret ``llmd-gke:hfToken`` (default: from a table
    of models, otherwise by the owner)."""
    startup_minutes: Annotated[int, Field(ge=DEFAULT.minimum_startup_minutes, le=180)] | None = None
    """Time limit in minutes for image pull, download and XLA compilation (default: from the size of the weights)."""
    drain_seconds: Annotated[int, Field(ge=0, le=gke.LONGEST_DRAINING_SECONDS - kserve.PRE_STOP_SECONDS)] = 60
    """Time in seconds that running requests get to finish when a pod terminates (default: 60). The load balancer drains
    for an hour at most, of which KServe's pause before the pod's end takes 15 s."""
    warm_up: bool = True
    """Mark a pod ready only after its first completion (default: true). Set it to false for embedding models."""
    kv_offload_gb: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Host memory in GB for KV cache that leaves the chips, from which prefixes are loaded instead of computed again
    (default: none)."""
    kv_offload_blocks: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    """Blocks of KV cache that ``kvOffloadGb`` has room for; only on TPU, and required there."""
    compile_cache: Word | None = None
    """Bucket, or folder in a bucket (``gs://BUCKET/PATH``), that stores compiled graphs for later pods (default: none;
    each pod compiles once)."""
    weights_cache: Word | None = None
    """Bucket, or folder in a bucket (``gs://BUCKET/PATH``), to which a Job copies ``hf://`` weights once; the pods then
    mount the copy (default: none; each pod downloads them). Only with a ``uri`` of ``hf://``."""
    parallel_download: bool = False
    """Cache weights from a bucket on the node's disk, whose ``diskGb`` must have room for them (default: false; the
    server reads them from the bucket, and they are fetched ahead). Only with a ``uri`` of ``gs://``, or with
    ``weightsCache``."""
    scheduler: SchedulerSettings = Field(default_factory=SchedulerSettings)
    """The endpoint picker, which distributes requests over the replicas."""
    objectives: ObjectivesSettings = Field(default_factory=ObjectivesSettings)
    """Service level objectives that alerts measure the model against."""
    stopped: bool = False
    """Remove the model's pods, TPU nodes and routes, but keep its settings (default: false)."""
    wait_for: Literal["ready", "workloads"] = "ready"
    """What an update waits for: the whole service (``ready``, default), or only its pods (``workloads``), for GKE
    versions whose InferencePool status KServe cannot read; then check the route with ``llmd-gke smoke``."""
    capabilities: tuple[str, ...] = Field(default=(), strict=False)
    """Linux capabilities to add to the server's container after all were dropped, e.g. ``SYS_RESOURCE`` (default:
    none)."""
    privileged: bool = False
    """Run the server's container privileged, for images that otherwise cannot open the TPU devices (default: false)."""
    max_rate_per_endpoint: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    """Requests per second at which the load balancer considers a pod full (default: Google's, 100 million)."""
    request_timeout_seconds: Annotated[int, Field(ge=1, le=86400)] = 600
    """Time limit of one request in seconds (default: 600; GKE's own default of 30 cuts long generations)."""
    at_root: bool = False
    """Serve the model at ``/`` as well as at ``/NAMESPACE/NAME`` (default: false); allowed for one model at most."""
    paths: tuple[str, ...] = Field(default=(), strict=False)
    """Paths that the gateway routes to the server in addition to the usual ones (``docs/edge.md``), each with
    everything below it, e.g. ``/v1/score`` (default: none)."""
    versions: tuple[VersionSettings, ...] = Field(default=(), strict=False)
    """Versions that run side by side (default: one, which is the model itself); see ``docs/models.md``."""
    rollout: RolloutSettings | None = None
    """Which part of the requests a version answers (default: the first version answers all); only with ``versions``."""

    _release: Release | None = PrivateAttr(default=None)

    def expanded(self) -> tuple[ModelSettings, ...]:
        """The model as one for each of its versions; itself without versions."""
        if self._release is not None or not self.versions:
            return (self,)
        result: list[ModelSettings] = []
        placed = releases(self.name, self.namespace, self.versions, self.rollout)
        for version, release in zip(self.versions, placed, strict=True):
            at_root = self.at_root and release.name == release.carrier
            own = {**version.own, "name": release.name, "served_model_name": self.served_name, "at_root": at_root}
            result.append(self.model_copy(update=own))
            result[-1]._release = release
        return tuple(result)

    @property
    def release(self) -> Release | None:
        """Which version of which model this is; ``None`` for a model without versions."""
        return self._release

    @property
    def model_name(self) -> str:
        """The model's name in the settings: ``name`` without that of a version."""
        return self.name if self._release is None else self._release.model

    @property
    def model_namespace(self) -> str:
        """The model's namespace in the settings, which a version may not be in."""
        return self.namespace if self._release is None else self._release.namespace

    @property
    def needs_token(self) -> bool:
        """Whether the weights require an accepted licence, and thus ``llmd-gke:hfToken``."""
        return models.is_gated(self.uri) if self.gated is None else self.gated

    @property
    def startup_budget(self) -> int:
        """Time limit in minutes from the pod's start to the server's first answer."""
        return self.startup_minutes or models.startup_minutes(self.uri)

    @property
    def weights_uri(self) -> str:
        """Where the server's pods find the weights: ``uri``, or the copy of them in a bucket."""
        return self.uri if self.weights_cache is None else models.copy_of(self.uri, self.weights_cache)

    @property
    def cache_bucket(self) -> str | None:
        """The bucket that keeps compiled graphs."""
        return models.bucket_of(self.compile_cache or "")

    @property
    def read_buckets(self) -> tuple[str, ...]:
        """The buckets of weights and adapters, each once."""
        found = map(models.bucket_of, (self.weights_uri, *(adapter.uri for adapter in self.adapters)))
        return tuple(dict.fromkeys(filter(None, found)))

    @property
    def uses_buckets(self) -> bool:
        """Whether the model's pods need a service account of their own, for access to a bucket."""
        return bool(self.read_buckets) or self.cache_bucket is not None

    @property
    def autoscaled(self) -> bool:
        """Whether an autoscaler owns the number of replicas."""
        return self.max_replicas is not None

    @property
    def idle_after_seconds(self) -> int | None:
        """Time without a request in seconds after which the model has no server; ``None`` if it keeps its servers."""
        return self.pace.idle_after_seconds if self.autoscaled else None

    @property
    def scales_to_zero(self) -> bool:
        """Whether the model may have no server although it is not stopped."""
        return self.autoscaled and (self.schedule is not None or self.pace.idle_after_seconds is not None)

    def serves_at(self, now: datetime) -> bool:
        """Whether the settings ask for servers at a time, which has a time zone: not stopped, and within its hours. An
        idle model counts as serving: a request starts its servers.
        """
        given = self.schedule if self.autoscaled and self.idle_after_seconds is None else None
        return not self.stopped and (given is None or given.is_open(now))

    @property
    def most_replicas(self) -> int:
        """Maximum number of replicas; 0 for a stopped model."""
        return 0 if self.stopped else self.max_replicas or self.replicas

    @property
    def serving_replicas(self) -> int:
        """Replicas without load, when the model is not stopped, idle or outside of its hours."""
        return self.min_replicas or self.replicas

    @property
    def least_replicas(self) -> int:
        """Minimum number of replicas; 0 for a stopped model, and for one that may be idle or outside of its hours."""
        return 0 if self.stopped or self.scales_to_zero else self.serving_replicas

    @property
    def pace(self) -> ScalingSettings:
        """The settings of when replicas are added and removed, with defaults."""
        return self.scaling or ScalingSettings()

    @property
    def served_name(self) -> str:
        """The name that clients send as ``model``."""
        return self.served_model_name or self.name

    @property
    def answers_to(self) -> tuple[str, ...]:
        """The names that its servers answer to, without adapters: first the two of this version alone, if it has such,
        then the two of the model, of which KServe advertises the second. Answers contain the first.
        """
        own = (self.name, f"publishers/{self.namespace}/models/{self.name}")
        both = (self.served_name, f"publishers/{self.model_namespace}/models/{self.served_name}")
        return both if self.name == self.model_name else (*own, *both)

    @property
    def names(self) -> tuple[str, ...]:
        """All names that its servers answer to, with those of adapters, also in ``extra_args``."""
        adapters = (*(adapter.name for adapter in self.adapters), *callers.adapters(self.extra_args))
        return tuple(dict.fromkeys((*self.answers_to, *adapters)))

    @property
    def path(self) -> str:
        """The path of the model at the gateway: ``/NAMESPACE/NAME``."""
        return f"/{self.namespace}/{self.name}"
