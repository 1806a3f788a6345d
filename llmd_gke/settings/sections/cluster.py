"""The cluster and its system pool."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from llmd_gke.catalog import versions
from llmd_gke.catalog.zones import is_ai_zone, region_of
from llmd_gke.settings.sections.base import Cidr, Section, Word
from llmd_gke.settings.sections.existing import ExistingClusterSettings
from llmd_gke.settings.sections.formats import GKE_VERSION, TIME_OF_DAY

Day = Literal["MO", "TU", "WE", "TH", "FR", "SA", "SU"]


class SystemPoolSettings(Section):
    """Non-TPU nodes for the controllers and endpoint pickers; a TPU cluster needs at least one such pool."""

    machine_type: Word = "e2-standard-4"
    """Machine type of the nodes: x86, no TPU or GPU (default: ``e2-standard-4``, 4 vCPUs and 16 GB)."""
    min_nodes: Annotated[int, Field(ge=1, le=1000)] = 1
    """Minimum number of nodes (default: 1)."""
    max_nodes: Annotated[int, Field(ge=1, le=1000)] = 4
    """Maximum number of nodes (default: 4)."""
    disk_gb: Annotated[int, Field(ge=20, le=65536)] = 100
    """Size of a node's boot disk in GB (default: 100)."""
    disk_type: Literal["pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced"] = "pd-balanced"
    """Type of a node's boot disk (default: ``pd-balanced``); n4, c4 and their variants support only
    ``hyperdisk-balanced``."""


class ExclusionSettings(Section):
    """A period without automatic upgrades of what ``scope`` names."""

    name: str
    """Name of the exclusion; unique in the cluster."""
    start: str
    """First day without upgrades, ``YYYY-MM-DD`` in UTC."""
    end: str | None = None
    """Day on which upgrades are allowed again, ``YYYY-MM-DD`` in UTC (default: until the version's end of support; not
    possible with ``NO_UPGRADES``)."""
    scope: Literal["NO_UPGRADES", "NO_MINOR_UPGRADES", "NO_MINOR_OR_NODE_UPGRADES"] = "NO_MINOR_OR_NODE_UPGRADES"
    """Which upgrades are excluded: all, minor versions, or minor versions and nodes (default:
    ``NO_MINOR_OR_NODE_UPGRADES``)."""


class MaintenanceSettings(Section):
    """Weekly window for automatic upgrades, outside exclusions.

    An upgrade recreates the hosts of a TPU pool one at a time; a model on a multi-host slice is down until the last
    host is back.
    """

    days: tuple[Day, ...] = Field(default=("SA", "SU"), strict=False, min_length=1)
    """Days of the week on which the window opens (default: Saturday and Sunday)."""
    start: Annotated[str, Field(pattern=TIME_OF_DAY)] = "02:00"
    """Start of the window, ``HH:MM`` in UTC (default: 02:00)."""
    hours: Annotated[int, Field(ge=4, le=24)] = 6
    """Length of the window in hours (default: 6); GKE requires 48 hours in any 32 days."""
    exclusions: tuple[ExclusionSettings, ...] = Field(default=(), strict=False)
    """Periods without automatic upgrades (default: none)."""


class EncryptionSettings(Section):
    """Cloud KMS keys of your own. Without one, Google encrypts with its own keys.

    First grant Google's service agents ``roles/cloudkms.cryptoKeyEncrypterDecrypter`` on the keys: see
    ``docs/security.md``.
    """

    database: str | None = None
    """Cloud KMS key for Kubernetes Secrets in etcd: ``projects/P/locations/REGION/keyRings/R/cryptoKeys/K``, in the
    cluster's region (default: Google's own key)."""
    disks: str | None = None
    """Cloud KMS key for the boot disks of all nodes, in the cluster's region or ``global`` (default: Google's own
    key). Changing it replaces every node pool."""


class ClusterSettings(Section):
    """The GKE cluster; ``docs/security.md`` lists what is always enabled."""

    name: str
    """Name of the cluster: lower-case letters, digits and hyphens, at most 24 characters. Changing it replaces the
    cluster."""
    existing: ExistingClusterSettings | None = None
    """Use an existing cluster (default: the program creates one), see ``docs/existing.md``."""
    zone: Word
    """Zone of the TPU nodes, e.g. ``europe-west4-a``; the cluster's region is derived from it."""
    control_plane: Literal["regional", "zonal"] = "regional"
    """``regional`` (default) keeps the API server up during upgrades, ``zonal`` does not."""
    release_channel: Literal["RAPID", "REGULAR", "STABLE", "EXTENDED"] = "REGULAR"
    """GKE's release channel, which determines how soon new versions are installed (default: ``REGULAR``)."""
    min_version: Annotated[str, Field(pattern=GKE_VERSION)] = Field(default_factory=versions.gke_default)
    """Minimum control-plane version. A minor version means its newest patch. GKE must be new enough to install the
    InferencePool CRD."""
    endpoint: Literal["dns", "ip", "private"] = "dns"
    """How kubectl and Pulumi reach the control plane (default: ``dns``, from anywhere, protected by IAM). ``ip`` is a
    public address for ``authorized_networks``, ``private`` an address of the VPC for those and the cluster's subnet."""
    authorized_networks: dict[str, Cidr] = Field(default_factory=dict[str, str])
    """A name and a CIDR for each network that may reach the control plane without ``endpoint: dns`` (default: none)."""
    private_nodes: bool = True
    """Give nodes no public addresses; they reach the Internet through Cloud NAT (default: true)."""
    deletion_protection: bool = True
    """Google rejects the deletion of the cluster while this is true (default: true)."""
    protect: bool = False
    """Pulumi rejects the deletion of the cluster while this is true (default: false)."""
    system_zone: Word | None = None
    """Zone of the non-TPU nodes (default: ``zone``, or zone ``a`` of the region if ``zone`` is an AI zone)."""
    system_pool: SystemPoolSettings = Field(default_factory=SystemPoolSettings)
    """The node pool for controllers and endpoint pickers; a TPU cluster needs one such pool."""
    labels: dict[str, str] = Field(default_factory=dict[str, str])
    """Google Cloud labels for all resources that support labels, e.g. for cost reports (default: none)."""
    maintenance: MaintenanceSettings | None = None
    """Window for automatic upgrades (default: at any time)."""
    encryption: EncryptionSettings = Field(default_factory=EncryptionSettings)
    """Cloud KMS keys of your own for Secrets and disks (default: Google's keys)."""
    binary_authorization: bool = False
    """Admit only images that the project's Binary Authorization policy allows (default: false)."""
    secret_manager: bool = False
    """Install GKE's Secret Manager CSI add-on, which mounts secrets into pods (default: false)."""
    audit: bool = False
    """Log control plane components, flows of the nodes' subnet, every connection through NAT, and traffic between pods
    of one node (default: false). Cloud Logging bills by volume."""

    @property
    def region(self) -> str:
        """The region of ``zone``."""
        return region_of(self.zone)

    @property
    def location(self) -> str:
        """Location of the control plane: the region, or the zone of a zonal cluster."""
        if self.existing is not None and self.existing.location is not None:
            return self.existing.location
        return self.region if self.control_plane == "regional" else self.zone

    @property
    def gke_name(self) -> str:
        """The cluster's name in GKE, which metrics and logs have. ``name`` begins the names of the stack's own."""
        return (self.existing.name if self.existing is not None else None) or self.name

    @property
    def node_zone(self) -> str:
        """Zone of the non-TPU nodes: the TPU zone, unless that is an AI zone, which holds accelerators only."""
        return self.system_zone or (f"{self.region}-a" if is_ai_zone(self.zone) else self.zone)
