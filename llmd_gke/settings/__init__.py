"""Typed stack configuration."""

from typing import TYPE_CHECKING

from llmd_gke.settings.errors import SettingsError
from llmd_gke.settings.parse import Checked, parse
from llmd_gke.settings.sections.cluster import ClusterSettings, MaintenanceSettings
from llmd_gke.settings.sections.front_door import (
    AccessSettings,
    CallerSettings,
    FrontDoorSettings,
)
from llmd_gke.settings.sections.gateway import GatewaySettings, TlsSettings
from llmd_gke.settings.sections.image_cache import ImageCacheSettings
from llmd_gke.settings.sections.models import ModelSettings
from llmd_gke.settings.sections.monitoring import MonitoringSettings
from llmd_gke.settings.sections.network import EgressSettings, NetworkSettings
from llmd_gke.settings.sections.platform import PlatformSettings
from llmd_gke.settings.sections.pools import PoolSettings
from llmd_gke.settings.sections.scaling import ScalingSettings
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.sections.storage import StorageSettings
from llmd_gke.settings.sections.traces import TracesSettings
from llmd_gke.settings.stack_secrets import required_secrets

if TYPE_CHECKING:
    from llmd_gke.settings.load import load_stack

__all__ = [
    "AccessSettings",
    "CallerSettings",
    "Checked",
    "ClusterSettings",
    "EgressSettings",
    "FrontDoorSettings",
    "GatewaySettings",
    "ImageCacheSettings",
    "MaintenanceSettings",
    "ModelSettings",
    "MonitoringSettings",
    "NetworkSettings",
    "PlatformSettings",
    "PoolSettings",
    "ScalingSettings",
    "SettingsError",
    "StackSettings",
    "StorageSettings",
    "TlsSettings",
    "TracesSettings",
    "load_stack",
    "parse",
    "required_secrets",
]


def __getattr__(name: str) -> object:
    # Only tools read stack files themselves; the program gets its configuration from the engine and must not pay
    # for a YAML parser in every preview.
    if name == "load_stack":
        from llmd_gke.settings.load import load_stack

        return load_stack
    raise AttributeError(name)
