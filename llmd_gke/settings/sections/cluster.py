"""The cluster and its system pool."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from llmd_gke.catalog import versions
from llmd_gke.catalog.zones import is_ai_zone, region_of
from llmd_gke.settings.sections.base import Cidr, Shape, Word

Day = Literal["MO", "TU", "WE", "TH", "FR", "SA", "SU"]


class SystemPoolSettings(Shape):
    """Ordinary nodes for the controllers and endpoint pickers; a TPU cluster needs at least one such pool.

    ``disk_gb`` and ``disk_type`` are the boot disk's.
    """

    machine_type: Word = "e2-standard-4"
    """Machine type of the nodes."""
    min_nodes: Annotated[int, Field(ge=1, le=1000)] = 1
    """``min_nodes`` and ``max_nodes`` bound what the autoscaler runs."""
    max_nodes: Annotated[int, Field(ge=1, le=1000)] = 4
    disk_gb: Annotated[int, Field(ge=20, le=65536)] = 100
    disk_type: Literal["pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced"] = "pd-balanced"


class ExclusionSettings(Shape):
    """Days (``YYYY-MM-DD``, UTC) on which GKE upgrades nothing of ``scope`` by itself.

    ``start`` is the first day, ``end`` the day after the last; without it the exclusion lasts until the version's end
    of support.
    """

    name: str
    """What the exclusion is called; unique in the cluster."""
    start: str
    end: str | None = None
    scope: Literal["NO_UPGRADES", "NO_MINOR_UPGRADES", "NO_MINOR_OR_NODE_UPGRADES"] = "NO_MINOR_OR_NODE_UPGRADES"


class MaintenanceSettings(Shape):
    """When GKE may upgrade: on ``days`` of the week from ``start`` (``HH:MM``, UTC) for ``hours``, but for exclusions.

    An upgrade of a TPU pool takes its hosts out one by one, that of a multi-host slice the whole slice.
    """

    days: tuple[Day, ...] = Field(default=("SA", "SU"), strict=False, min_length=1)
    start: Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")] = "02:00"
    hours: Annotated[int, Field(ge=4, le=24)] = 6
    exclusions: tuple[ExclusionSettings, ...] = Field(default=(), strict=False)


class EncryptionSettings(Shape):
    """Cloud KMS keys of your own, by full name: ``database`` for Kubernetes Secrets, ``disks`` for boot disks.

    Google encrypts both with its own keys where none is named. Google's service agents need
    ``roles/cloudkms.cryptoKeyEncrypterDecrypter`` on the keys first, see ``docs/security.md``.
    """

    database: str | None = None
    disks: str | None = None


class ClusterSettings(Shape):
    """The GKE cluster.

    ``zone`` is where the TPU nodes are; the region is derived from it. ``control_plane`` regional (default) keeps the
    API server up during upgrades, zonal does not. ``endpoint`` is how kubectl and Pulumi reach the control plane:
    ``dns`` (default) is guarded by IAM and works from anywhere, ``ip`` is a public address for ``authorized_networks``,
    ``private`` an address of the VPC for those (the cluster's own subnet is always admitted).
    ``maintenance``: without it GKE upgrades whenever it likes. ``binary_authorization`` admits only images that the
    project's policy allows; ``secret_manager`` adds the driver that mounts secrets from Secret Manager; both are off.
    ``labels`` are on everything that takes labels. What is always on: ``docs/security.md``.
    """

    name: str
    """Lower-case letters, digits and hyphens, at most 24 characters."""
    zone: Word
    control_plane: Literal["regional", "zonal"] = "regional"
    release_channel: Literal["RAPID", "REGULAR", "STABLE", "EXTENDED"] = "REGULAR"
    """GKE's release channel: how soon new versions arrive."""
    min_version: Annotated[str, Field(pattern=r"^\d+\.\d+(\.\d+(-gke\.\d+)?)?$")] = Field(
        default_factory=versions.gke_default
    )
    """The oldest control plane that will do; older ones than the default lack the InferencePool CRD."""
    endpoint: Literal["dns", "ip", "private"] = "dns"
    authorized_networks: dict[str, Cidr] = Field(default_factory=dict[str, str])
    """A name and a CIDR for each network that may reach the control plane when ``endpoint`` is not ``dns``."""
    private_nodes: bool = True
    """Nodes without public addresses; they reach the Internet through Cloud NAT."""
    deletion_protection: bool = True
    """Google refuses to delete the cluster while this is on."""
    protect: bool = False
    """Pulumi refuses to delete the cluster."""
    system_zone: Word | None = None
    """Zone of the ordinary nodes (default: ``zone``, or the region's zone a for an AI zone). ``labels`` are on
    everything that takes labels."""
    system_pool: SystemPoolSettings = Field(default_factory=SystemPoolSettings)
    labels: dict[str, str] = Field(default_factory=dict[str, str])
    maintenance: MaintenanceSettings | None = None
    encryption: EncryptionSettings = Field(default_factory=EncryptionSettings)
    binary_authorization: bool = False
    secret_manager: bool = False
    audit: bool = False
    """Record what happened: control plane logs, flow logs of the nodes' subnet, every connection through NAT, traffic
    between pods of one node. Cloud Logging charges for it by volume."""

    @property
    def region(self) -> str:
        """The region of ``zone``."""
        return region_of(self.zone)

    @property
    def location(self) -> str:
        """Where the control plane is: the region, or the zone of a zonal cluster."""
        return self.region if self.control_plane == "regional" else self.zone

    @property
    def node_zone(self) -> str:
        """Where ordinary nodes are: the TPU zone, unless that is an AI zone, which holds accelerators only."""
        return self.system_zone or (f"{self.region}-a" if is_ai_zone(self.zone) else self.zone)
