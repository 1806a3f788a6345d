"""The settings of a whole stack."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from llmd_gke.catalog import registries, versions
from llmd_gke.catalog.accelerators import DEFAULT
from llmd_gke.catalog.apis import needed
from llmd_gke.catalog.cost import Totals, total
from llmd_gke.catalog.existing import PARTS, Part
from llmd_gke.catalog.front_door import PROXIES_NAMESPACE
from llmd_gke.catalog.scaling import Source
from llmd_gke.rules.budget import LABEL, cents
from llmd_gke.rules.scaling import effective_source
from llmd_gke.settings.sections.base import Section
from llmd_gke.settings.sections.budget import BudgetSettings
from llmd_gke.settings.sections.cluster import ClusterSettings
from llmd_gke.settings.sections.front_door import AccessSettings, FrontDoorSettings
from llmd_gke.settings.sections.gateway import GatewaySettings
from llmd_gke.settings.sections.image_cache import ImageCacheSettings
from llmd_gke.settings.sections.models import ModelSettings
from llmd_gke.settings.sections.monitoring import MonitoringSettings
from llmd_gke.settings.sections.network import NetworkSettings
from llmd_gke.settings.sections.platform import PlatformSettings
from llmd_gke.settings.sections.pools import PoolSettings
from llmd_gke.settings.sections.storage import StorageSettings


class StackSettings(Section):
    """All settings of a stack, validated. Created by :func:`llmd_gke.settings.parse`."""

    project: str
    """ID of the Google Cloud project: ``pulumi config set gcp:project YOUR-PROJECT``."""
    cluster: ClusterSettings
    """The GKE cluster."""
    network: NetworkSettings = Field(default_factory=NetworkSettings)
    """Ranges of the VPC, or an existing VPC."""
    pools: tuple[PoolSettings, ...] = Field(strict=False, min_length=1)
    """Node pools that models run on, at least one."""
    gateway: GatewaySettings = Field(default_factory=GatewaySettings)
    """The gateway in front of all models."""
    front_door: FrontDoorSettings | None = None
    """One address for all models, with keys, limits and priorities (default: each model has a path of its own)."""
    platform: PlatformSettings = Field(default_factory=PlatformSettings)
    """The controllers of the cluster."""
    monitoring: MonitoringSettings = Field(default_factory=MonitoringSettings)
    """Metrics, alerts, dashboard and traces."""
    registry: dict[str, str] = Field(default_factory=dict[str, str])
    """A mirror of charts and images: each registry and its replacement, e.g.
    ``docker.io: europe-west4-docker.pkg.dev/PROJECT/docker-hub`` (default: none; ``docs/supply-chain.md``)."""
    image_cache: ImageCacheSettings | None = None
    """Repositories in Artifact Registry that the stack creates and pulls every image through, so that nodes can stream
    them (default: none; ``docs/supply-chain.md``); not together with ``registry``."""
    budget: BudgetSettings | None = None
    """What the stack may cost (default: no limit)."""
    storage: StorageSettings = Field(default_factory=StorageSettings)
    """Cloud Storage buckets that the program creates."""
    models: tuple[ModelSettings, ...] = Field(strict=False, min_length=1)
    """The served models, at least one. In the settings that were read, each version of a model is one."""

    @model_validator(mode="after")
    def _expanded(self) -> Self:
        """Every version of a model becomes a model; those without an image get that of their pool's accelerator."""
        kinds = {pool.name: pool.accelerator for pool in self.pools}
        models = tuple(
            model
            if "image" in model.model_fields_set or kinds.get(model.pool, DEFAULT) is DEFAULT
            else model.model_copy(update={"image": versions.image(kinds[model.pool].image)})
            for declared in self.models
            for model in declared.expanded()
        )
        if models != self.models:
            object.__setattr__(self, "models", models)  # sections are frozen
        return self

    @property
    def node_pools(self) -> tuple[PoolSettings, ...]:
        """The node pools in GKE: those of :attr:`pools`, or one for each of a pool's capacities."""
        return tuple(one for pool in self.pools for one in pool.node_pools)

    @property
    def collected(self) -> tuple[str, ...]:
        """Metrics that GKE collects for this stack, as a cluster's ``monitoringConfig`` names them: states of
        autoscalers, and of GPUs.
        """
        chips = {pool.accelerator.metrics.component for pool in self.pools}
        return (*filter(None, sorted(chips, key=str)), *(["HPA"] if self.autoscaled else []))

    @property
    def pool_keys(self) -> tuple[str, ...]:
        """The keys of :attr:`pools`, such as ``llmd-gke:pools[0]``."""
        return tuple(f"llmd-gke:pools[{index}]" for index in range(len(self.pools)))

    @property
    def model_keys(self) -> tuple[str, ...]:
        """The keys of :attr:`models`, such as ``llmd-gke:models[0]``, or ``llmd-gke:models[0].versions[1]``."""
        keys: list[str] = []
        index = -1
        for model in self.models:
            release = model.release
            index += release is None or release.position == 0
            keys.append(f"llmd-gke:models[{index}]" + (f".versions[{release.position}]" if release else ""))
        return tuple(keys)

    @property
    def totals(self) -> Totals:
        """Chips and hourly price with all replicas running."""
        nodes = [(pool, self.busy_nodes(pool)) for pool in self.pools]
        return total([pool.cost(pool.zone_in(self.cluster.zone), count) for pool, count in nodes])

    @property
    def least_totals(self) -> Totals:
        """Chips and hourly price with autoscaled models at their fewest replicas."""
        nodes = [(pool, self.least_nodes(pool)) for pool in self.pools]
        return total([pool.cost(pool.zone_in(self.cluster.zone), count) for pool, count in nodes])

    @property
    def apis(self) -> tuple[str, ...]:
        """The Google APIs that the project needs, without ``.googleapis.com``."""
        cluster, tls = self.cluster, self.gateway.tls
        return needed(
            certificates=tls is not None and bool(tls.certificate_manager),
            secrets=cluster.secret_manager,
            binary_authorization=cluster.binary_authorization,
            encryption=bool(cluster.encryption.disks or cluster.encryption.database),
            buckets=self.uses_storage,
            cloud_trace=self.monitoring.cloud_trace,
            billing_budget=self.budget is not None and self.budget.billing_account is not None,
            iap=self.access.iap is not None,
        )

    @property
    def access(self) -> AccessSettings:
        """What the load balancer requires of requests to the front door; empty without one."""
        door = self.front_door
        return (None if door is None else door.access) or AccessSettings()

    @property
    def existing_controllers(self) -> dict[Part, str]:
        """The controllers that the cluster has already, each with its Deployment, ``NAMESPACE/NAME``."""
        existing = self.cluster.existing
        named = {} if existing is None else existing.controllers.model_dump(by_alias=True, exclude_none=True)
        return {part: named[part.key] for part in PARTS if part.key in named}

    @property
    def existing_namespaces(self) -> tuple[str, ...]:
        """The namespaces of models that exist already."""
        existing = self.cluster.existing
        return () if existing is None else existing.namespaces

    @property
    def cached_registries(self) -> dict[str, str]:
        """Each registry whose images the stack caches, with the address of its repository; empty without a cache."""
        cluster = self.cluster
        return registries.cache(self.project, cluster.region, cluster.name) if self.image_cache is not None else {}

    @property
    def mirrors(self) -> registries.Mirrors:
        """Where charts and images come from. A cache has images only: the engine downloads charts before it exists."""
        return registries.Mirrors(images=self.cached_registries or self.registry, charts=self.registry)

    @property
    def budget_labels(self) -> dict[str, str]:
        """The cluster's label from which the policy ``hourly-price`` reads the stack's limit."""
        given = self.budget
        limit = None if given is None else cents(given.usd_per_hour, given.usd_per_month)
        return {} if limit is None else {LABEL: str(limit)}

    @property
    def uses_storage(self) -> bool:
        """Whether the program creates buckets, or a model uses one."""
        return bool(self.storage.buckets) or any(model.uses_buckets for model in self.models)

    @property
    def copied(self) -> tuple[ModelSettings, ...]:
        """The models whose weights a Job copies: of versions with the same weights, the first one."""
        first: dict[tuple[str, str], ModelSettings] = {}
        for model in self.models:
            first.setdefault((model.model_name, model.weights_uri), model)
        return tuple(model for model in first.values() if model.weights_cache is not None)

    def busy_nodes(self, pool: PoolSettings) -> int:
        """Number of nodes of a pool while all replicas run: the autoscaler removes idle ones."""
        hosts = sum(model.most_replicas * pool.slice.hosts for model in self.models if model.pool == pool.name)
        return max(pool.kept_nodes, min(hosts, pool.max_nodes))

    def least_nodes(self, pool: PoolSettings) -> int:
        """Number of nodes of a pool while autoscaled models have their fewest replicas."""
        hosts = sum(model.least_replicas * pool.slice.hosts for model in self.models if model.pool == pool.name)
        return max(pool.kept_nodes, min(hosts, pool.max_nodes))

    def asks_for_early_hosts(self, pool: PoolSettings) -> ModelSettings | None:
        """The model in whose namespace pods ask for a pool's early hosts: the first one on the pool, stopped or not, so
        that a stop or start asks for no host. ``None`` where no pod asks, because no model is on the pool or the node
        pool starts with its hosts.
        """
        if not pool.early_hosts or not pool.hosts_wait_for_pods:
            return None
        return next((model for model in self.models if model.pool == pool.name), None)

    @property
    def autoscaled(self) -> tuple[ModelSettings, ...]:
        """The autoscaled models that are not stopped."""
        return tuple(model for model in self.models if model.autoscaled and not model.stopped)

    def scaling_source(self, model: ModelSettings) -> Source:
        """The component that reads a model's load: that of the settings, else the managed adapter if there is one."""
        return effective_source(model.pace.source, self.cluster.min_version)

    def scales_by(self, source: Source) -> bool:
        """Whether a model that is not stopped is scaled by the load from that source."""
        return any(self.scaling_source(model) == source for model in self.autoscaled)

    def pool(self, name: str) -> PoolSettings:
        """The pool of that name. Raises ``StopIteration`` for a name that validation would have rejected."""
        return next(pool for pool in self.pools if pool.name == name)

    def spans_hosts(self, model: ModelSettings) -> bool:
        """Whether a model runs on a slice of several hosts."""
        return self.pool(model.pool).slice.multi_host

    def models_in(self, namespace: str) -> tuple[ModelSettings, ...]:
        """The models of a namespace, in the order of the settings."""
        return tuple(model for model in self.models if model.namespace == namespace)

    @property
    def multi_host_namespaces(self) -> tuple[str, ...]:
        """The namespaces that have a model on a slice of several hosts."""
        return tuple(dict.fromkeys(model.namespace for model in self.models if self.spans_hosts(model)))

    @property
    def routed_namespaces(self) -> tuple[str, ...]:
        """The namespaces whose routes the Gateway at the load balancer admits."""
        of_models = self.namespaces if self.routes_pools_at_the_edge else ()
        return of_models if self.front_door is None else (*of_models, PROXIES_NAMESPACE)

    @property
    def routes_pools_at_the_edge(self) -> bool:
        """Whether the Gateway at the load balancer routes to models: without a front door, or with ``keepPaths``."""
        return self.front_door is None or self.front_door.keep_paths

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces of the models, each once, in the order of the settings."""
        return tuple(dict.fromkeys(model.namespace for model in self.models))
