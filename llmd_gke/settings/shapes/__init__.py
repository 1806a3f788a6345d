"""The shape of a stack's settings: names, types, defaults. One section a file.
Rules across fields are in :mod:`llmd_gke.settings.rules`.

Keys are written in camelCase in ``Pulumi.<stack>.yaml``, under the project's namespace ``llmd-gke:``. Nothing here
holds a secret: tokens are read by the program as Pulumi secrets and never enter these objects.
"""

from llmd_gke.settings.shapes.base import Shape
from llmd_gke.settings.shapes.cluster import (
    ClusterSettings,
    EncryptionSettings,
    ExclusionSettings,
    MaintenanceSettings,
    SystemPoolSettings,
)
from llmd_gke.settings.shapes.gateway import GatewaySettings, TlsSettings
from llmd_gke.settings.shapes.models import ModelSettings
from llmd_gke.settings.shapes.network import EgressSettings, ExistingNetworkSettings, NetworkSettings
from llmd_gke.settings.shapes.platform import PlatformSettings
from llmd_gke.settings.shapes.pools import ReservationSettings, TpuPoolSettings
from llmd_gke.settings.shapes.scheduler import PluginSettings, SaturationSettings, SchedulerSettings
from llmd_gke.settings.shapes.stack import StackSettings
from llmd_gke.settings.shapes.storage import StorageSettings

__all__ = [
    "ClusterSettings",
    "EgressSettings",
    "EncryptionSettings",
    "ExclusionSettings",
    "ExistingNetworkSettings",
    "GatewaySettings",
    "MaintenanceSettings",
    "ModelSettings",
    "NetworkSettings",
    "PlatformSettings",
    "PluginSettings",
    "ReservationSettings",
    "SaturationSettings",
    "SchedulerSettings",
    "Shape",
    "StackSettings",
    "StorageSettings",
    "SystemPoolSettings",
    "TlsSettings",
    "TpuPoolSettings",
]
