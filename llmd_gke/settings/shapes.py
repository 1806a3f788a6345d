"""The shape of a stack's settings: names, types, defaults. Rules across fields are in :mod:`llmd_gke.settings.rules`.

Keys are written in camelCase in ``Pulumi.<stack>.yaml``, under the project's namespace ``llmd-gke:``. Nothing here
holds a secret: tokens are read by the program as Pulumi secrets and never enter these objects.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from llmd_gke.catalog import models, tpu, versions
from llmd_gke.catalog.cost import Totals, pool_cost, total
from llmd_gke.catalog.tpu import Family, Slice
from llmd_gke.catalog.zones import Capacity, is_ai_zone, region_of


class Shape(BaseModel):
    """Base of all settings: frozen, strict, and no key that nobody reads."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, alias_generator=to_camel, populate_by_name=True, validate_default=True
    )


Nodes = Annotated[int, Field(ge=0, le=1000)]
Cidr = Annotated[str, Field(pattern=r"^\d{1,3}(\.\d{1,3}){3}/\d{1,2}$")]


class SystemPoolSettings(Shape):
    """Ordinary nodes for the controllers and endpoint pickers; a TPU cluster needs at least one such pool."""

    machine_type: str = "e2-standard-4"
    min_nodes: Annotated[int, Field(ge=1, le=1000)] = 1
    max_nodes: Annotated[int, Field(ge=1, le=1000)] = 4


class ClusterSettings(Shape):
    """The GKE cluster.

    ``zone`` is where the TPU nodes are; the region is derived from it. ``control_plane`` regional (default) keeps the
    API server up during upgrades, zonal does not. ``endpoint`` is how kubectl and Pulumi reach the control plane:
    ``dns`` (default) is guarded by IAM and works from anywhere, ``ip`` is limited to ``authorized_networks``.
    """

    name: str
    zone: str
    control_plane: Literal["regional", "zonal"] = "regional"
    release_channel: Literal["RAPID", "REGULAR", "STABLE", "EXTENDED"] = "REGULAR"
    min_version: Annotated[str, Field(pattern=r"^\d+\.\d+(\.\d+(-gke\.\d+)?)?$")] = Field(
        default_factory=versions.gke_floor
    )
    endpoint: Literal["dns", "ip"] = "dns"
    authorized_networks: dict[str, Cidr] = Field(default_factory=dict[str, str])
    private_nodes: bool = True
    deletion_protection: bool = True
    protect: bool = False
    system_zone: str | None = None
    system_pool: SystemPoolSettings = Field(default_factory=SystemPoolSettings)
    labels: dict[str, str] = Field(default_factory=dict[str, str])

    @property
    def region(self) -> str:
        return region_of(self.zone)

    @property
    def location(self) -> str:
        """Where the control plane is: the region, or the zone of a zonal cluster."""
        return self.region if self.control_plane == "regional" else self.zone

    @property
    def node_zone(self) -> str:
        """Where ordinary nodes are: the TPU zone, unless that is an AI zone, which holds accelerators only."""
        return self.system_zone or (f"{self.region}-a" if is_ai_zone(self.zone) else self.zone)


class NetworkSettings(Shape):
    """IPv4 ranges of the VPC. The proxy-only range is what GKE's regional gateways send requests from."""

    nodes: Cidr = "10.0.0.0/20"
    pods: Cidr = "10.4.0.0/14"
    services: Cidr = "10.8.0.0/20"
    proxies: Cidr = "10.9.0.0/23"


class TpuPoolSettings(Shape):
    """A node pool of TPU hosts. ``updates_need_stop``: the pool has no spare host, see ``docs/pools.md``."""

    name: str
    machine_type: str
    topology: str
    min_nodes: Nodes = 0
    max_nodes: Annotated[int, Field(ge=1, le=1000)]
    capacity: Capacity = "on-demand"
    updates_need_stop: bool = False
    disk_gb: Annotated[int, Field(ge=50, le=65536)] = 100

    @property
    def family(self) -> Family:
        """The TPU family. Raises ``KeyError`` for a machine type the validator would have refused."""
        family = tpu.family_of(self.machine_type)
        if family is None:
            raise KeyError(self.machine_type)
        return family

    @property
    def slice(self) -> Slice:
        """The slice its nodes form. Raises ``KeyError`` for a shape the validator would have refused."""
        shape = tpu.find_slice(self.machine_type, self.topology)
        if shape is None:
            raise KeyError(f"{self.machine_type} {self.topology}")
        return shape

    def cost(self, zone: str, nodes: int) -> Totals:
        """Chips and price of that many nodes of this pool."""
        return pool_cost(self.family, self.slice, zone, self.capacity, nodes)


class GatewaySettings(Shape):
    """The edge. Internal unless said otherwise; external without HTTPS must be wished for explicitly."""

    exposure: Literal["internal", "external"] = "internal"
    allow_plain_http: bool = False


class PlatformSettings(Shape):
    """Controllers. ``chart_folder``: read charts from folders below it instead of their OCI homes (offline work)."""

    chart_folder: str | None = None


class ModelSettings(Shape):
    """A served model.

    ``pool`` names the TPU pool. ``tensor_parallel`` follows the pool unless given. ``served_model_name`` is what
    clients send (default: ``name``). ``startup_minutes`` bounds image pull, download and XLA compilation;
    ``request_timeout_seconds`` replaces GKE's 30 s, which cut long generations. ``at_root`` serves the model at ``/``
    as well as at ``/NAMESPACE/NAME``.
    """

    name: str
    namespace: str = "models"
    uri: str
    pool: str
    replicas: Annotated[int, Field(ge=1, le=1000)] = 1
    served_model_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$")] | None = None
    tensor_parallel: Annotated[int, Field(ge=1)] | None = None
    prefix_caching: bool = True
    max_model_len: Annotated[int, Field(ge=1)] | None = None
    max_num_seqs: Annotated[int, Field(ge=1)] | None = None
    max_num_batched_tokens: Annotated[int, Field(ge=1)] | None = None
    dtype: Literal["auto", "bfloat16"] = "auto"
    extra_args: tuple[str, ...] = Field(default=(), strict=False)
    image: str = Field(default_factory=lambda: versions.image("vllm-tpu"))
    gated: bool | None = None
    startup_minutes: Annotated[int, Field(ge=5, le=180)] = 30
    request_timeout_seconds: Annotated[int, Field(ge=1, le=86400)] = 600
    at_root: bool = False

    @property
    def needs_token(self) -> bool:
        """Whether the weights are behind a licence gate, so that ``llmd-gke:hfToken`` is needed."""
        return models.is_gated(self.uri) if self.gated is None else self.gated

    @property
    def served_name(self) -> str:
        return self.served_model_name or self.name

    @property
    def path(self) -> str:
        """Where the gateway serves the model."""
        return f"/{self.namespace}/{self.name}"


class StackSettings(Shape):
    """Everything a stack says, checked. Made by :func:`llmd_gke.settings.parse`."""

    project: str
    cluster: ClusterSettings
    network: NetworkSettings = Field(default_factory=NetworkSettings)
    tpu_pools: tuple[TpuPoolSettings, ...] = Field(strict=False, min_length=1)
    gateway: GatewaySettings = Field(default_factory=GatewaySettings)
    platform: PlatformSettings = Field(default_factory=PlatformSettings)
    models: tuple[ModelSettings, ...] = Field(strict=False, min_length=1)

    @property
    def totals(self) -> Totals:
        """Chips and hourly price with all replicas running."""
        nodes = [(pool, self.busy_nodes(pool)) for pool in self.tpu_pools]
        return total([pool.cost(self.cluster.zone, count) for pool, count in nodes])

    def busy_nodes(self, pool: TpuPoolSettings) -> int:
        """Nodes of a pool while all replicas run: the autoscaler takes the others away."""
        hosts = sum(model.replicas * pool.slice.hosts for model in self.models if model.pool == pool.name)
        return max(pool.min_nodes, min(hosts, pool.max_nodes))

    def pool(self, name: str) -> TpuPoolSettings:
        """The TPU pool of that name. Raises ``StopIteration`` for one the validator would have refused."""
        return next(pool for pool in self.tpu_pools if pool.name == name)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces of the models, each once, in the order of the settings."""
        return tuple(dict.fromkeys(model.namespace for model in self.models))
