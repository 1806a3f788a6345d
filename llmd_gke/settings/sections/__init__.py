"""The shape of a stack's settings: names, types, defaults. One section a file.
Rules across fields are in :mod:`llmd_gke.settings.validation`.

Keys are written in camelCase in ``Pulumi.<stack>.yaml``, under the project's namespace ``llmd-gke:``. Nothing here
holds a secret: tokens are read by the program as Pulumi secrets and never enter these objects.
"""

from llmd_gke.settings.sections.base import Section
from llmd_gke.settings.sections.budget import BudgetSettings
from llmd_gke.settings.sections.capacity import CapacitySettings, ReservationSettings
from llmd_gke.settings.sections.cluster import (
    ClusterSettings,
    EncryptionSettings,
    ExclusionSettings,
    MaintenanceSettings,
    SystemPoolSettings,
)
from llmd_gke.settings.sections.front_door import (
    AccessSettings,
    CallerSettings,
    FrontDoorSettings,
    IapSettings,
    TokenIssuerSettings,
)
from llmd_gke.settings.sections.gateway import GatewaySettings, TlsSettings
from llmd_gke.settings.sections.image_cache import ImageCacheSettings
from llmd_gke.settings.sections.models import ModelSettings, VariableSettings
from llmd_gke.settings.sections.monitoring import MonitoringSettings
from llmd_gke.settings.sections.network import EgressSettings, ExistingNetworkSettings, NetworkSettings
from llmd_gke.settings.sections.notification import (
    ChannelSettings,
    PagerDutySettings,
    PubSubSettings,
    SlackSettings,
    WebhookSettings,
)
from llmd_gke.settings.sections.objectives import ObjectivesSettings
from llmd_gke.settings.sections.platform import PlatformSettings
from llmd_gke.settings.sections.pools import AcceleratorPool, TpuPoolSettings
from llmd_gke.settings.sections.scaling import ScalingSettings, ScheduleSettings
from llmd_gke.settings.sections.scheduler import PluginSettings, SaturationSettings, SchedulerSettings
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.sections.storage import StorageSettings
from llmd_gke.settings.sections.traces import TracesSettings

__all__ = [
    "AcceleratorPool",
    "AccessSettings",
    "BudgetSettings",
    "CallerSettings",
    "CapacitySettings",
    "ChannelSettings",
    "ClusterSettings",
    "EgressSettings",
    "EncryptionSettings",
    "ExclusionSettings",
    "ExistingNetworkSettings",
    "FrontDoorSettings",
    "GatewaySettings",
    "IapSettings",
    "ImageCacheSettings",
    "MaintenanceSettings",
    "ModelSettings",
    "MonitoringSettings",
    "NetworkSettings",
    "ObjectivesSettings",
    "PagerDutySettings",
    "PlatformSettings",
    "PluginSettings",
    "PubSubSettings",
    "ReservationSettings",
    "SaturationSettings",
    "ScalingSettings",
    "ScheduleSettings",
    "SchedulerSettings",
    "Section",
    "SlackSettings",
    "StackSettings",
    "StorageSettings",
    "SystemPoolSettings",
    "TlsSettings",
    "TokenIssuerSettings",
    "TpuPoolSettings",
    "TracesSettings",
    "VariableSettings",
    "WebhookSettings",
]
